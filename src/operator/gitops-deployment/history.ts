import type { GitOpsDeployment } from '../../api/index.ts'

export type History = NonNullable<NonNullable<GitOpsDeployment['status']>['history']>

/** What the schema takes. */
const MOST = 10

/** The revisions that were in effect as a whole, newest first. One that still is enters once; one that comes back, again. */
export function historyAfter(history: History | undefined, now: { revision: string; path: string; at: string }): History {
  const before = history ?? []
  const isSame = before[0]?.revision === now.revision && before[0].path === now.path
  return isSame ? before : [now, ...before].slice(0, MOST)
}
