import { execInPod, type Kube, type PodProcess } from '../../adapters/kube/index.ts'
import { optional, type ToolCall, text } from '../../adapters/mcp/index.ts'
import { nameOf as titleOf } from '../../api/index.ts'
import { createWholeOutput, withTarget } from '../../engines/lookout/index.ts'
import { Failure, isFailure, seconds, systemClock, unlessAborted, within } from '../../std/index.ts'
import { findContainer, refuseStopped } from '../workspace/inside.ts'
import { createIdReader } from './process-id.ts'
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
  stdout: { add(bytes: Buffer): void }
  stderr: { add(bytes: Buffer): void }
}

export interface CommandEnd {
  /** Nothing where its time was over. */
  code: number | undefined
  /** Where its time was over, it may be that it could not be ended. */
  mayStillRun: boolean
}

/** For its id to come, where a call is over before. */
const ID_WITHIN = seconds(3)
const ENDED_WITHIN = seconds(6)
const PIECE = 64 * 1024

/** Runs a script of ours in the container, to its end, until its time is over (a result) or until the call is taken back (`cancelled`). */
export async function runInside(inside: ContainerPlace, command: Command, { signal }: ToolCall): Promise<CommandEnd> {
  if (signal.aborted) throw new Failure('cancelled', `no command was begun in ${inside.title}`)
  const id = createIdReader()
  const timeUp = new AbortController()
  const cancelTime = systemClock.after(command.within, () => timeUp.abort())
  const stop = AbortSignal.any([signal, timeUp.signal])
  // What has just been asked for may run soon, and can be ended only by its id: so this is waited for, also while it connects.
  const late = new AbortController()
  let cancelLate: (() => void) | undefined
  let ending: Promise<boolean> | undefined
  const stopped = () => {
    cancelLate = systemClock.after(ID_WITHIN, () => late.abort())
    ending = unlessAborted(id.arrived, late.signal)
      .then(() => end(inside, id.read()))
      .finally(() => late.abort())
  }
  stop.addEventListener('abort', stopped)
  let code: number | undefined
  try {
    code = await follow(inside, command, { id, signal: late.signal })
  } catch (thrown) {
    if (!ending) throw thrown
    late.abort()
  } finally {
    cancelTime()
    stop.removeEventListener('abort', stopped)
  }
  if (!ending) return { code, mayStillRun: false }
  const isEnded = await ending
  cancelLate?.()
  if (!signal.aborted) return { code: undefined, mayStillRun: !isEnded }
  const what = isEnded ? 'was ended' : 'could not be ended, and may still run'
  throw new Failure('cancelled', `the command in ${inside.title} ${what}`)
}

interface Following {
  id: ReturnType<typeof createIdReader>
  /** Closes the connection. */
  signal: AbortSignal
}

async function follow(inside: ContainerPlace, command: Command, { id, signal }: Following): Promise<number> {
  const { container, pod, home: namespace, target } = inside
  // Where its input ends before, nothing is left to wait by.
  const whole = command.input ? undefined : createWholeOutput(command.script, { hasInput: false })
  const words = ['sh', '-c', WITH_ID + (whole?.script ?? command.script), 'sh', ...command.words]
  const running = await execInPod(target, { namespace, pod, container, command: words, hasTerminal: false }, signal)
  const close = () => running.close()
  signal.addEventListener('abort', close)
  try {
    if (signal.aborted) close()
    const fed = command.input && feed(running, command.input)
    const take = async (from: 'stdout' | 'stderr', bytes: Buffer) => {
      if (from === 'stderr') command.stderr.add(bytes)
      else command.stdout.add(id.pass(bytes))
    }
    const code = await (whole ? whole.follow(running, take) : running.follow(take))
    await fed
    return code
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}

/** A command may end, or close its input, before it has read it: then the rest is for nobody. */
async function feed(running: PodProcess, input: Buffer): Promise<void> {
  try {
    for (let at = 0; at < input.length; at += PIECE) await running.input(input.subarray(at, at + PIECE))
    await running.endInput()
  } catch (thrown) {
    if (!isFailure(thrown, 'cancelled', 'unavailable')) throw thrown
  }
}

/** Whether all of its group is known to be over. */
async function end({ target, home: namespace, pod, container }: ContainerPlace, id: string | undefined): Promise<boolean> {
  if (id === undefined) return false
  const command = ['sh', '-c', END_SCRIPT, 'sh', id]
  const work = async (late: AbortSignal) => {
    const ending = await execInPod(target, { namespace, pod, container, command, hasTerminal: false }, late)
    late.addEventListener('abort', () => ending.close())
    return (await ending.follow(async () => undefined)) === 0
  }
  // Where the container is gone, so is the command; but that is not known here.
  return within(ENDED_WITHIN, undefined, work).catch(() => false)
}
