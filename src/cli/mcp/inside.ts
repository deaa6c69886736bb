import { execInPod, type Kube, type PodProcess } from '../../adapters/kube/index.ts'
import { optional, type ToolCall, text } from '../../adapters/mcp/index.ts'
import { nameOf as titleOf } from '../../api/index.ts'
import { withTarget } from '../../engines/lookout/index.ts'
import { Failure, isFailure, seconds, systemClock, within } from '../../std/index.ts'
import { findContainer, refuseStopped } from '../workspace/inside.ts'
import { createClipped } from './clipped.ts'
import { END_SCRIPT, WITH_ID } from './scripts.ts'
import { findWorkspace, type McpSession, nameOf, namespaceField, onCluster } from './session.ts'

export const insideFields = {
  name: nameOf('Workspace'),
  namespace: namespaceField,
  container: optional(text('The container; the first one of the devfile without it', { most: 253 })),
}

/** A container of a workspace that runs. */
export interface ContainerPlace {
  target: Kube
  home: string
  pod: string
  container: string
  /** For messages. */
  title: string
}

interface Wanted {
  name: string
  namespace: string | undefined
  container: string | undefined
}

export const insideOf = <Result>(
  session: McpSession,
  call: ToolCall,
  wanted: Wanted,
  work: (inside: ContainerPlace) => Promise<Result>,
): Promise<Result> =>
  onCluster(session, call, async (kube) => {
    const workspace = await findWorkspace(kube, session, wanted)
    refuseStopped(workspace)
    return withTarget(kube, workspace, { reach: undefined }, async (target, home) => {
      const found = await findContainer(workspace, { target, home }, wanted.container)
      return work({ target, home, ...found, title: `${titleOf(workspace)}, container ${found.container}` })
    })
  })

interface Command {
  /** Gets `words` as $1, $2 and so on; nothing of them is ever a part of a script. */
  script: string
  words: readonly string[]
  input?: Buffer
  /** Milliseconds. */
  within: number
  /** Of each of its two outputs, bytes. */
  most: number
}

export interface CommandEnd {
  /** Nothing where it was ended because its time was over. */
  code: number | undefined
  stdout: ReturnType<typeof createClipped>
  stderr: ReturnType<typeof createClipped>
}

const ENDED_WITHIN = seconds(3)
const PIECE = 64 * 1024

/** Runs a script of ours in the container, to its end, until its time is over (a result) or until the call is taken back (`cancelled`). */
export async function runInside(inside: ContainerPlace, command: Command, { signal }: ToolCall): Promise<CommandEnd> {
  const { container, pod, home: namespace, target } = inside
  const id = createIdReader()
  const [stdout, stderr] = [createClipped(command.most), createClipped(command.most)]
  const words = ['sh', '-c', WITH_ID + command.script, 'sh', ...command.words]
  const timeUp = new AbortController()
  const cancel = systemClock.after(command.within, () => timeUp.abort())
  const stop = AbortSignal.any([signal, timeUp.signal])
  let running: PodProcess | undefined
  const close = () => running?.close()
  try {
    running = await execInPod(target, { namespace, pod, container, command: words, hasTerminal: false }, stop)
    stop.addEventListener('abort', close)
    if (stop.aborted) close()
    const fed = feed(running, command.input)
    const code = await running.follow(async (from, bytes) => {
      if (from === 'stderr') stderr.add(bytes)
      else stdout.add(id.pass(bytes))
    })
    await fed
    return { code, stdout, stderr }
  } catch (thrown) {
    if (!stop.aborted) throw thrown
    await end(inside, id.read())
    if (signal.aborted) throw new Failure('cancelled', `the command in ${inside.title} was ended`)
    return { code: undefined, stdout, stderr }
  } finally {
    cancel()
    stop.removeEventListener('abort', close)
    close()
  }
}

/** A command may end, or close its input, before it has read it: then the rest is for nobody. */
async function feed(running: PodProcess, input: Buffer | undefined): Promise<void> {
  try {
    for (let at = 0; input && at < input.length; at += PIECE) await running.input(input.subarray(at, at + PIECE))
    await running.endInput()
  } catch (thrown) {
    if (!isFailure(thrown, 'cancelled', 'unavailable')) throw thrown
  }
}

/** Takes the first line out of what a script writes: its process id. */
function createIdReader() {
  let line = ''
  let isOver = false
  return {
    pass(bytes: Buffer): Buffer {
      if (isOver) return bytes
      const at = bytes.indexOf('\n')
      line += bytes.subarray(0, at < 0 ? bytes.length : at).toString('latin1')
      isOver = at >= 0
      return isOver ? bytes.subarray(at + 1) : Buffer.alloc(0)
    },
    read: () => (isOver && /^\d{1,10}$/.test(line) ? line : undefined),
  }
}

async function end({ target, home: namespace, pod, container }: ContainerPlace, id: string | undefined): Promise<void> {
  if (id === undefined) return
  const command = ['sh', '-c', END_SCRIPT, 'sh', id]
  const work = async (late: AbortSignal) => {
    const ending = await execInPod(target, { namespace, pod, container, command, hasTerminal: false }, late)
    late.addEventListener('abort', () => ending.close())
    await ending.follow(async () => undefined)
  }
  // It may have ended by itself, and its container, too.
  await within(ENDED_WITHIN, undefined, work).catch(() => undefined)
}
