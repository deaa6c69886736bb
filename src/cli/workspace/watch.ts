import { nameOf, refOf, type Workspace, Workspaces, workspaceStateOf, workspaceWishOf } from '../../api/index.ts'
import { Failure, seconds, spelled, systemClock } from '../../std/index.ts'
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
  /** From this generation on its word counts. */
  generation: number
}

type Ending = { word: 'done' } | { word: 'gone' } | { word: 'failed' | 'changed'; workspace: Workspace }

/** Most of what a workspace waits for in its first seconds comes by itself. */
const PATIENCE = seconds(5)

/** Follows the workspace and tells each step with its time, until it is as expected, has failed, or somebody wants it otherwise. */
export async function watchUntil(
  { shell, kube, workspace }: WorkspaceContext,
  { state, timeout, generation }: WatchGoal,
): Promise<ExitCode> {
  const report = reportTo(shell)
  const began = systemClock.now()
  let before: Workspace | undefined
  const tell = (lines: string[]) => {
    const time = spelled(systemClock.now() - began).padStart(7)
    for (const line of lines) report.line(`${time}  ${line}`)
  }
  const remedies = createRemedies((remedy) => tell([`  -> ${remedy}`]))
  const ending = await follow(
    {
      kube,
      kind: Workspaces,
      ref: refOf(workspace),
      within: seconds(timeout),
      what: state,
      where: () => (before ? standOf(before) : 'it was not seen yet'),
      advice: () => before && adviceOn(before),
      signal: shell.signal,
    },
    (now): Ending | undefined => {
      if (!now || now.metadata.uid !== workspace.metadata.uid) return { word: 'gone' }
      if ((now.metadata.generation ?? 0) < generation || (now.status?.observedGeneration ?? 0) < generation) return undefined
      tell(news(before, now))
      remedies.see(now.status?.failure?.remedy ?? '')
      before = now
      return endingOf(now, state)
    },
  ).finally(() => remedies.end())
  return conclude(shell, before ?? workspace, ending, state, systemClock.now() - began)
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

/** Prints how it ended. `took` milliseconds. */
function conclude(shell: Shell, workspace: Workspace, ending: Ending, state: WatchGoal['state'], took: number): ExitCode {
  const title = nameOf(workspace)
  if (ending.word === 'gone' && state !== 'Terminated') throw new Failure('not-found', `${title} was deleted.`)
  if (ending.word === 'gone' || ending.word === 'done') {
    const url = state === 'Running' && workspace.status?.url ? ` Open it at ${workspace.status.url}` : ''
    const what = ending.word === 'gone' ? 'gone, with everything that was in it' : state
    shell.print(`${title} is ${what}, after ${spelled(took)}.${url}`)
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
