import { conditionOf, type GitOpsDeployment, isTrue, type Statement } from '../../../api/index.ts'

export type CommitOutcome = NonNullable<NonNullable<GitOpsDeployment['status']>['lastOutcome']>

/** A commit that succeeded once does not fail afterwards: what becomes of it later is health, not its outcome. */
export const outcomeAfter = (before: CommitOutcome | undefined, now: CommitOutcome): CommitOutcome =>
  before?.revision === now.revision && before.result === 'Succeeded' ? before : now

/** Whether it is decided by now. */
export function resultIn(conditions: readonly Statement[]): CommitOutcome['result'] | undefined {
  const ready = conditionOf(conditions, 'Ready')
  if (ready?.status === 'True') return 'Succeeded'
  const hasFailed = isTrue(conditions, 'SyncError')
  return hasFailed || ready?.reason === 'Degraded' ? 'Failed' : undefined
}

/** Notifications tell each outcome of each commit once. */
export const newsIn = (before: CommitOutcome | undefined, after: CommitOutcome | undefined): CommitOutcome | undefined =>
  after && (before?.revision !== after.revision || before.result !== after.result) ? after : undefined

export type History = NonNullable<NonNullable<GitOpsDeployment['status']>['history']>

/** The schema takes so many. */
const MOST = 10

/** The revisions that were in effect as a whole, newest first. One that still is enters once; one that comes back, again. */
export function historyAfter(history: History | undefined, now: { revision: string; path: string; at: string }): History {
  const before = history ?? []
  const isSame = before[0]?.revision === now.revision && before[0].path === now.path
  return isSame ? before : [now, ...before].slice(0, MOST)
}
