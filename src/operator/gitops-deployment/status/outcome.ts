import { conditionOf, type GitOpsDeployment, isTrue, type Statement } from '../../../api/index.ts'
import type { Snapshot } from '../../../engines/render/index.ts'
import { beginningOf, harmlessLine, minutes } from '../../../std/index.ts'

export type CommitOutcome = NonNullable<NonNullable<GitOpsDeployment['status']>['lastOutcome']>

/** A commit with what can be told of it. */
export type ToldCommit = Pick<Snapshot, 'commitId' | 'author' | 'subject'>

/** The schema takes so many characters. */
const MOST_OF_AUTHOR = 128
const MOST_OF_SUBJECT = 256

/** What has come of a commit, and whose it is: on one line each, with nothing in it that hides or moves text. */
export function outcomeOf(commit: ToldCommit, result: CommitOutcome['result']): CommitOutcome {
  const author = lineOf(commit.author ?? '', MOST_OF_AUTHOR)
  return { revision: commit.commitId, result, ...(author && { author }), ...subjectOf(commit) }
}

/** Where there is something to say. */
export const subjectOf = ({ subject = '' }: ToldCommit): { subject?: string } => {
  const line = lineOf(subject, MOST_OF_SUBJECT)
  return line ? { subject: line } : {}
}

const lineOf = (text: string, most: number): string =>
  beginningOf(harmlessLine(beginningOf(text.trim())), most - 1).toWellFormed()

/** A commit that succeeded once does not fail afterwards: what becomes of it later is health, not its outcome. */
export function outcomeAfter(before: CommitOutcome | undefined, now: CommitOutcome): CommitOutcome {
  if (before?.revision !== now.revision) return now
  return before.result === 'Succeeded' ? before : { ...before, ...now }
}

/** Whether it is decided by now. */
export function resultIn(conditions: readonly Statement[]): CommitOutcome['result'] | undefined {
  const ready = conditionOf(conditions, 'Ready')
  if (ready?.status === 'True') return 'Succeeded'
  const hasFailed = isTrue(conditions, 'SyncError')
  return hasFailed || ready?.reason === 'Degraded' || ready?.reason === 'Blocked' ? 'Failed' : undefined
}

export type LastTrouble = NonNullable<NonNullable<GitOpsDeployment['status']>['lastTrouble']>

/** What falls ill again and again is told of at this pace; a trouble that lasts is told of in the end. */
const PACE = minutes(10)

/** Begins when what had succeeded is Degraded, and is over when all is Healthy: what lies between is neither. Pure. */
export function troubleAfter(
  before: LastTrouble | undefined,
  { revision, health, outcome, now }: { revision: string; health: string; outcome: CommitOutcome | undefined; now: string },
): LastTrouble | undefined {
  if (before && before.until === undefined) return health === 'Healthy' ? { ...before, until: now } : before
  const isFallen = health === 'Degraded' && outcome?.revision === revision && outcome.result === 'Succeeded'
  const isSoon = before !== undefined && Date.parse(now) - Date.parse(before.since) < PACE
  return isFallen && !isSoon ? { revision, since: now } : before
}

export type History = NonNullable<NonNullable<GitOpsDeployment['status']>['history']>

/** The schema takes so many. */
const MOST = 10

/** The revisions that were in effect as a whole, newest first. One that still is enters once; one that comes back, again. */
export function historyAfter(history: History | undefined, now: History[number]): History {
  const before = history ?? []
  const isSame = before[0]?.revision === now.revision && before[0].path === now.path
  return isSame ? before : [now, ...before].slice(0, MOST)
}

type Admitted = NonNullable<NonNullable<GitOpsDeployment['status']>['admitted']>

/** The time is that of the first pass that left nothing to do. */
export const admittedAfter = (before: Admitted | undefined, now: Admitted): Admitted =>
  before?.revision === now.revision && before.generation === now.generation ? before : now
