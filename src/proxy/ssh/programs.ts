import { setImmediate as breathe } from 'node:timers/promises'
import { execInPod, type PodProcess } from '../../adapters/kube/index.ts'
import { type OpenFolders, type SshChannel, type SshProgram, serveSftp } from '../../adapters/ssh/index.ts'
import { createWholeOutput, SHELL_SCRIPT } from '../../engines/lookout/index.ts'
import type { Place } from './inside.ts'
import { podFiles } from './pod-files.ts'
import { ask } from './pod-scripts.ts'

/** Variables come first, and the rest is behind `--`. */
const WITH_VARIABLES = 'while [ "$1" != -- ]; do export "$1"; shift; done; shift'
const IN_PROJECT = 'cd "${PROJECT_SOURCE:-.}" 2>/dev/null'
const COMMAND_SCRIPT = `${IN_PROJECT}
exec sh -c "$1"`

/** Says where the project is, and the server that is there where the packages of distributions have it. */
const SFTP_SCRIPT = `${IN_PROJECT}
pwd
for each in /usr/lib/openssh /usr/libexec/openssh /usr/lib/ssh /usr/libexec /usr/lib/misc
do [ -x "$each/sftp-server" ] && echo "$each/sftp-server" && exit; done
exit 0`

/** What a terminal makes a signal of. Nothing else reaches a program through the API. */
const TYPED: Readonly<Record<string, number>> = { INT: 3, QUIT: 28 }

/** Runs the program to its end. Throws when it cannot be started. */
export async function runProgram(place: Place, program: SshProgram, channel: SshChannel, folders: OpenFolders): Promise<void> {
  const { kind } = program
  if (kind === 'shell') return runCommand(place, { ...program, text: SHELL_SCRIPT }, channel)
  if (kind === 'command') return runCommand(place, program, channel)
  const [home = '/', server = ''] = (await ask(place, { script: SFTP_SCRIPT, words: [], signal: channel.closed })).split('\n')
  if (server !== '') return runCommand(place, { ...program, text: server }, channel)
  await serveSftp(channel, podFiles(place, home, channel.closed), folders)
  channel.end(0)
}

async function runCommand(place: Place, program: SshProgram, channel: SshChannel): Promise<void> {
  const { text, terminal, variables } = program
  const input = channel.input[Symbol.asyncIterator]()
  const first = input.next()
  const hasNone = await Promise.race([first.then(({ done }) => done === true), breathe(false)])
  const whole = createWholeOutput(COMMAND_SCRIPT, { hasInput: !hasNone })
  const script = terminal ? COMMAND_SCRIPT : whole.script
  const assignments = [...variables].map(([name, value]) => `${name}=${value}`)
  const command = ['sh', '-c', `${WITH_VARIABLES}\n${script}`, 'sh', ...assignments, '--', text]
  const running = await execInPod(place.kube, { ...place, command, hasTerminal: terminal !== undefined }, channel.closed)
  if (terminal) await running.resize(terminal)
  program.onResize(sendLast((size) => running.resize(size)))
  const type = sendLast((typed: number) => running.input(Buffer.of(typed)))
  program.onSignal((name) => {
    const typed = terminal && TYPED[name]
    if (typed !== undefined) type(typed)
  })
  // Whatever ends the input, it is the output that tells how the program ended.
  if (!hasNone || terminal) void feed(running, first, input).catch(ignored)
  const take = (from: 'stdout' | 'stderr', bytes: Buffer) => channel.write(bytes, from)
  channel.end(await (terminal ? running.follow(take) : whole.follow(running, take)))
}

const ignored = () => undefined

/** Sends one at a time: a client may say any number, and the server need take none. Of those that wait the last one counts. */
function sendLast<T>(send: (what: T) => Promise<void>): (what: T) => void {
  const waiting: T[] = []
  let isSending = false
  const sendAll = async () => {
    isSending = true
    for (let what = waiting.pop(); what !== undefined; what = waiting.pop()) await send(what).catch(ignored)
    isSending = false
  }
  return (what) => {
    waiting[0] = what
    if (!isSending) void sendAll()
  }
}

async function feed(
  running: PodProcess,
  first: Promise<IteratorResult<Uint8Array>>,
  input: AsyncIterator<Uint8Array>,
): Promise<void> {
  for (let next = await first; !next.done; next = await input.next()) await running.input(next.value)
  await running.endInput()
}
