import { refOf, type Workspace, Workspaces } from '../../api/index.ts'
import { Failure, seconds, systemClock } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { follow } from '../gitops/follow.ts'
import { wrap } from '../output.ts'
import { reportTo } from '../report.ts'
import { isSeen, news, standOf } from './progress.ts'
import { spelled } from './time.ts'
import { type AtHand, berth, desiredOf, stateOf, titleOf } from './workspace.ts'

export interface Expectation {
  /** The state in which it is done. */
  state: 'Running' | 'Stopped' | 'Terminated'
  /** Seconds. */
  timeout: number
  /** From this generation on its word counts. */
  generation: number
}

type Ending = { word: 'done' } | { word: 'gone' } | { word: 'failed' | 'changed'; workspace: Workspace }

/** Follows the workspace and tells each step with its time, until it is as expected, has failed, or somebody wants it otherwise. */
export async function watchUntil(
  { shell, kube, workspace }: AtHand,
  { state, timeout, generation }: Expectation,
): Promise<ExitCode> {
  const report = reportTo(shell)
  const began = systemClock.now()
  let before: Workspace | undefined
  const tell = (lines: string[]) => {
    const time = spelled(systemClock.now() - began).padStart(7)
    for (const line of lines) report.line(`${time}  ${line}`)
  }
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
      before = now
      return endingOf(now, state)
    },
  )
  return concluded({ shell, workspace: before ?? workspace, ending, state, took: systemClock.now() - began })
}

/** Who has been seen needs no operator that is looked for. */
const adviceOn = (workspace: Workspace): string =>
  `${workspace.status?.failure?.remedy ?? `More of it: ${berth('describe', workspace)}.`} Or wait longer with --timeout.`

function endingOf(now: Workspace, state: Expectation['state']): Ending | undefined {
  if (!isSeen(now)) return undefined
  const wanted = desiredOf(now)
  // A deletion leaves the wish as it was.
  if (state !== 'Terminated' && wanted !== state && wanted !== 'RestartRequested') return { word: 'changed', workspace: now }
  if (stateOf(now) === state && (wanted === state || state === 'Terminated')) return { word: 'done' }
  return ['Failed', 'Error'].includes(stateOf(now)) && state === 'Running' ? { word: 'failed', workspace: now } : undefined
}

interface Conclusion {
  shell: AtHand['shell']
  workspace: Workspace
  ending: Ending
  state: Expectation['state']
  /** Milliseconds. */
  took: number
}

function concluded({ shell, workspace, ending, state, took }: Conclusion): ExitCode {
  const title = titleOf(workspace)
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
      ? `somebody else wants it ${desiredOf(ending.workspace)}`
      : `${failure?.step ? `in step ${failure.step}: ` : ''}${failure?.cause ? `${failure.cause}: ` : ''}${failure?.message ?? 'it does not say why'}`
  const text = `berth: ${title} is not ${state} but ${stateOf(ending.workspace)}: ${why.replace(/\.$/, '')}. ${failure?.remedy ?? ''}`
  for (const line of wrap(text.trim())) shell.say(`${line}\n`)
  shell.say(`More of it: ${berth('describe', workspace)}; ${berth('logs', workspace)}\n`)
  return exitCodes.failed
}
