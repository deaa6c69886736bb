import { nameOf, refOf, type Workspace, Workspaces, workspaceStateOf, workspaceWishOf } from '../../api/index.ts'
import { Failure, isFailure, seconds, spelled, systemClock } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { follow } from '../follow.ts'
import { sentence, wrap } from '../output.ts'
import { reportTo } from '../report.ts'
import type { Shell } from '../shell.ts'
import { causeOf, isSeen, news, standOf } from './progress.ts'
import { commandFor, type WorkspaceContext } from './workspace.ts'

export interface WatchGoal {
  /** The state in which it is done. */
  state: 'Running' | 'Stopped' | 'Terminated'
  /** Seconds. */
  timeout: number
  /** Seconds that it has to stay Running; none where it is not to run. */
  stay?: number | undefined
  /** From this generation on its word counts. */
  generation: number
}

type Ending = { word: 'done' } | { word: 'gone' } | { word: 'failed' | 'changed'; workspace: Workspace }

/** Most of what a workspace waits for in its first seconds comes by itself. */
const PATIENCE = seconds(5)

/** Follows the workspace and tells each step with its time, until it is as expected, has failed, or somebody wants it otherwise. */
export async function watchUntil(
  { shell, kube, workspace }: WorkspaceContext,
  { state, timeout, stay = 0, generation }: WatchGoal,
): Promise<ExitCode> {
  const report = reportTo(shell)
  const began = systemClock.now()
  let before: Workspace | undefined
  const tell = (lines: string[]) => {
    const time = spelled(systemClock.now() - began).padStart(7)
    for (const line of lines) report.line(`${time}  ${line}`)
  }
  const remedies = createRemedies((remedy) => tell([`  -> ${remedy}`]))
  const watched = {
    kube,
    kind: Workspaces,
    ref: refOf(workspace),
    what: state,
    where: () => (before ? standOf(before) : 'it was not seen yet'),
    advice: () => before && adviceOn(before),
    signal: shell.signal,
  }
  const see = (now: Workspace | undefined): Ending | undefined => {
    if (!now || now.metadata.uid !== workspace.metadata.uid) return { word: 'gone' }
    if ((now.metadata.generation ?? 0) < generation || (now.status?.observedGeneration ?? 0) < generation) return undefined
    tell(news(before, now))
    remedies.see(now.status?.failure?.remedy ?? '')
    before = now
    return endingOf(now, state)
  }
  const until = <Answer>(is: (now: Workspace | undefined) => Answer | undefined, within: number) =>
    follow({ ...watched, within: seconds(within) }, is)
  const end = (ending: Ending) => conclude(shell, before ?? workspace, ending, state, systemClock.now() - began)
  try {
    const ending = await until(see, timeout)
    const code = await end(ending)
    if (ending.word !== 'done' || state !== 'Running' || stay === 0) return code
    const later = await until((now) => laterOf(see(now)), stay).catch(ifItStayed)
    return later === 'fallen' ? await end(await until(see, timeout)) : code
  } finally {
    remedies.end()
  }
}

/** What becomes of one that runs; nothing while it does. Who stops or deletes it then says nothing against its start. */
function laterOf(ending: Ending | undefined): 'fallen' | 'ended' | undefined {
  if (ending?.word === 'done') return undefined
  return ending === undefined || ending.word === 'failed' ? 'fallen' : 'ended'
}

/** Time alone has passed. */
function ifItStayed(thrown: unknown): undefined {
  if (!isFailure(thrown, 'timeout')) throw thrown
}

/** Passes on a remedy once it has stood for a while: whoever reads it is to act. */
function createRemedies(tell: (remedy: string) => void) {
  let standing = ''
  let end: () => void = () => undefined
  return {
    see(remedy: string) {
      if (remedy === standing) return
      end()
      standing = remedy
      if (remedy) end = systemClock.after(PATIENCE, () => tell(remedy))
    },
    end: () => end(),
  }
}

/** The operator has looked at it, so that nobody needs to look for the operator. */
const adviceOn = (workspace: Workspace): string =>
  `${sentence(workspace.status?.failure?.remedy || `More of it: ${commandFor('describe', workspace)}`)} Or wait longer with --timeout.`

function endingOf(now: Workspace, state: WatchGoal['state']): Ending | undefined {
  if (!isSeen(now)) return undefined
  const wanted = workspaceWishOf(now)
  // A deletion leaves the wish as it was.
  if (state !== 'Terminated' && wanted !== state && wanted !== 'RestartRequested') return { word: 'changed', workspace: now }
  if (workspaceStateOf(now) === state && (wanted === state || state === 'Terminated')) return { word: 'done' }
  return ['Failed', 'Error'].includes(workspaceStateOf(now)) && state === 'Running'
    ? { word: 'failed', workspace: now }
    : undefined
}

/** For an answer from the other end of the world. */
const ANSWERS_WITHIN = seconds(5)

/** A class may promise addresses where no proxy runs, or to which no name leads: nobody is sent there. Whatever answers is somebody's. */
export async function sayAddress(url: string, signal: AbortSignal): Promise<string> {
  try {
    const answer = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWERS_WITHIN)]),
    })
    await answer.body?.cancel()
    return `Open it at ${url}`
  } catch (thrown) {
    const why = messageOf(thrown)
    return wrap(
      `Its address is ${url}, but nothing answers there from this machine${why && ` (${why})`}: the proxy has to run, and a name and a certificate lead to it (docs/proxy.md).`,
    ).join('\n')
  }
}

/** The telling one is at the end of the chain. */
function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return ''
  return messageOf(thrown.cause) || thrown.message
}

/** Prints how it ended. `took` milliseconds. */
async function conclude(
  shell: Shell,
  workspace: Workspace,
  ending: Ending,
  state: WatchGoal['state'],
  took: number,
): Promise<ExitCode> {
  const title = nameOf(workspace)
  if (ending.word === 'gone' && state !== 'Terminated') throw new Failure('not-found', `${title} was deleted.`)
  if (ending.word === 'gone' || ending.word === 'done') {
    const what = ending.word === 'gone' ? 'gone, with everything that was in it' : state
    shell.print(`${title} is ${what}, after ${spelled(took)}.`)
    const { url } = workspace.status ?? {}
    if (state === 'Running' && url) shell.print(await sayAddress(url, shell.signal))
    return exitCodes.ok
  }
  const { failure } = ending.workspace.status ?? {}
  const why =
    ending.word === 'changed'
      ? `somebody else wants it ${workspaceWishOf(ending.workspace)}`
      : `${failure?.step ? `in step ${failure.step}: ` : ''}${causeOf(ending.workspace)}${failure?.message ?? 'it does not say why'}`
  const text = `berth: ${title} is not ${state} but ${workspaceStateOf(ending.workspace)}: ${why.replace(/\.$/, '')}. ${failure?.remedy ?? ''}`
  for (const line of wrap(text.trim())) shell.say(`${line}\n`)
  shell.say(`More of it: ${commandFor('describe', workspace)}; ${commandFor('logs', workspace)}\n`)
  return exitCodes.failed
}
