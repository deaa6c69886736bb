import { Failure, recordIn } from '../../std/index.ts'
import { causesIn } from './errors.ts'
import type { Kube } from './kube.ts'
import type { KubeSocket } from './web-socket.ts'

interface PodName {
  namespace: string
  pod: string
}

interface PodCommand extends PodName {
  container: string
  command: readonly string[]
  /** It gets a terminal: then there is one output, and what is typed may be a signal. */
  hasTerminal: boolean
}

/** A command that runs in a container. */
export interface PodProcess {
  /** Resolves when more may come. Throws `cancelled` after the end. */
  input(bytes: Uint8Array): Promise<void>
  /** No more input comes: the first time that it is said. */
  endInput(): Promise<void>
  resize(size: { columns: number; rows: number }): Promise<void>
  /**
   * Hands over what the command writes, each piece when the one before has been taken, and gives its exit code. Throws when it
   * cannot be started, or when the connection breaks. Called once.
   */
  follow(take: (from: 'stdout' | 'stderr', bytes: Buffer) => Promise<void>): Promise<number>
  close(): void
}

/** The first byte of each message says what it is: k8s.io/apimachinery/pkg/util/remotecommand. */
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, close: 255 } as const
const EXEC_PROTOCOL = 'v5.channel.k8s.io'

/** Starts a command in a container of a pod, with input, by the exec API. */
export async function execInPod(kube: Kube, wanted: PodCommand, signal?: AbortSignal): Promise<PodProcess> {
  const { namespace, pod, container, command, hasTerminal } = wanted
  const query = new URLSearchParams({
    container,
    stdin: 'true',
    stdout: 'true',
    stderr: String(!hasTerminal),
    tty: String(hasTerminal),
  })
  for (const word of command) query.append('command', word)
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/exec?${query}`
  const socket = await kube.socket(path, { protocols: [EXEC_PROTOCOL], about: `a command in container ${container}`, signal })
  let isEnded = false
  return {
    async input(bytes) {
      if (isEnded) throw new Failure('cancelled', 'the input has ended')
      await send(socket, CHANNEL.stdin, bytes)
    },
    async endInput() {
      if (isEnded) return
      isEnded = true
      await send(socket, CHANNEL.close, Buffer.of(CHANNEL.stdin))
    },
    resize: ({ columns, rows }) => send(socket, CHANNEL.resize, Buffer.from(JSON.stringify({ Width: columns, Height: rows }))),
    async follow(take) {
      let code: number | undefined
      for await (const message of socket.messages) {
        const bytes = message.subarray(1)
        if (message[0] === CHANNEL.status) code = exitCodeFrom(bytes, container)
        else if (bytes.length > 0 && message[0] === CHANNEL.stdout) await take('stdout', bytes)
        else if (bytes.length > 0 && message[0] === CHANNEL.stderr) await take('stderr', bytes)
      }
      if (code !== undefined) return code
      throw new Failure('unavailable', 'the connection to the command broke', { object: `container ${container}` })
    },
    close: () => socket.close(),
  }
}

function send(socket: KubeSocket, channel: number, bytes: Uint8Array): Promise<void> {
  const message = Buffer.allocUnsafe(bytes.length + 1)
  message[0] = channel
  message.set(bytes, 1)
  return socket.send(message)
}

const LONGEST_STATUS = 16 * 1024

/** The Status at the end says how it went, a code of its own in a cause. */
function exitCodeFrom(bytes: Buffer, container: string): number {
  const status = recordIn(bytes.subarray(0, LONGEST_STATUS).toString('utf8')) ?? {}
  if (status.status === 'Success') return 0
  const said = causesIn(status.details).find(({ reason }) => reason === 'ExitCode')?.message
  const code = Number(said)
  if (said !== undefined && Number.isInteger(code)) return code
  throw new Failure('unavailable', String(status.message ?? 'the command could not be started').slice(0, 400), {
    object: `container ${container}`,
  })
}

/** A connection to a port of a pod. */
export interface PodPort {
  /** Resolves when more may come. */
  send(bytes: Uint8Array): Promise<void>
  /** Read once. Throws when nothing listens on the port, or the connection breaks. */
  readonly bytes: AsyncIterable<Buffer>
  close(): void
}

/** Of each port the server has a channel for bytes, and one for what went wrong. */
const PORT_CHANNEL = { bytes: 0, error: 1 } as const

/** Connects to a port on the loopback of a pod. Neither side can say that it only sends no more. */
export async function connectToPod(
  kube: Kube,
  { namespace, pod, port }: PodName & { port: number },
  signal?: AbortSignal,
): Promise<PodPort> {
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/portforward?ports=${port}`
  const socket = await kube.socket(path, { protocols: ['v4.channel.k8s.io'], about: `port ${port} of Pod ${pod}`, signal })
  return {
    send: (bytes) => send(socket, PORT_CHANNEL.bytes, bytes),
    bytes: bytesOf(socket, port),
    close: () => socket.close(),
  }
}

async function* bytesOf({ messages }: KubeSocket, port: number): AsyncGenerator<Buffer> {
  /** Each channel begins with the number of the port. */
  const begun = new Set<number>()
  for await (const message of messages) {
    const channel = message[0] ?? -1
    const bytes = message.subarray(begun.has(channel) ? 1 : 3)
    begun.add(channel)
    if (bytes.length === 0) continue
    if (channel === PORT_CHANNEL.error)
      throw new Failure('unavailable', bytes.subarray(0, 400).toString('utf8'), { object: `port ${port}` })
    if (channel === PORT_CHANNEL.bytes) yield bytes
  }
}
