import { annotations, type GitOpsDeployment, type Statement } from '../../../api/index.ts'
import { keyOfId, sayId, sayIds, sayKey } from '../../../engines/apply/index.ts'
import { type Entry, entriesOf, type SyncResult } from '../../../engines/gitops/index.ts'

export interface PendingPrune {
  revision: string
  count: number
  reason: string
  message: string
}

/** Says which deletions wait for a confirmation, with the command that gives it. */
export function pendingPruneOf(
  { metadata: { name, namespace }, spec: { type } }: GitOpsDeployment,
  entries: readonly Entry[],
  revision: string,
): PendingPrune | undefined {
  const held = entriesOf(entries, 'withheld')
  const [first] = held
  if (!first) return undefined
  const list = sayIds(
    held.map(({ id }) => id),
    10,
  )
  const command = `kubectl annotate gitopsdeployment ${name} -n ${namespace} ${annotations.confirmPrune}=${revision} --overwrite`
  const then = type === 'manual' ? `, and create a GitOpsDeploymentSyncRun with revisionID ${revision}` : ''
  return {
    revision,
    count: held.length,
    reason: first.failure?.reason ?? 'ConfirmationNeeded',
    message: `${sayId(first.id)} ${first.why ?? ''}. To confirm: ${command}${then}. It deletes ${list}`.slice(0, 4096),
  }
}

const MOST_CONTESTED = 3

/** Objects that this deployment keeps and others want as well. That is no fault of it: the others are refused. Pure. */
export function contestedIn(contested: SyncResult['contested'], failed: readonly Entry[]): Statement {
  const refused = new Set(failed.map(({ id }) => keyOfId(id)))
  const claimants = new Map<string, string[]>()
  for (const { key, by } of contested) if (!refused.has(key)) claimants.set(key, [...(claimants.get(key) ?? []), by.title])
  if (claimants.size === 0) return { type: 'Contested', status: 'False', reason: 'AsExpected', message: '' }
  const said = [...claimants]
    .slice(0, MOST_CONTESTED)
    .map(([key, titles]) => `${sayKey(key)} is wanted by ${titles.join(', ')} as well`)
  const more = claimants.size > MOST_CONTESTED ? `; and ${claimants.size - MOST_CONTESTED} more` : ''
  const message = `${said.join('; ')}${more}. It stays with this one; remove it from all but one.`
  return { type: 'Contested', status: 'True', reason: 'ConflictingSync', message }
}
