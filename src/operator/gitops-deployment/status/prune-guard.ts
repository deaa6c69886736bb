import { annotations, type GitOpsDeployment } from '../../../api/index.ts'
import { sayId } from '../../../engines/apply/index.ts'
import { type Entry, entriesOf } from '../../../engines/gitops/index.ts'

export interface PendingPrune {
  revision: string
  count: number
  reason: string
  message: string
}

/** What waits for a confirmation, with the command that gives it. */
export function pendingPruneOf(
  { metadata: { name, namespace }, spec: { type } }: GitOpsDeployment,
  entries: readonly Entry[],
  revision: string,
): PendingPrune | undefined {
  const held = entriesOf(entries, 'withheld')
  const [first] = held
  if (!first) return undefined
  const names = held.slice(0, 10).map(({ id }) => sayId(id))
  const list = held.length > names.length ? `${names.join(', ')} and ${held.length - names.length} more` : names.join(', ')
  const command = `kubectl annotate gitopsdeployment ${name} -n ${namespace} ${annotations.confirmPrune}=${revision} --overwrite`
  const then = type === 'manual' ? `, and create a GitOpsDeploymentSyncRun with revisionID ${revision}` : ''
  return {
    revision,
    count: held.length,
    reason: first.failure?.reason ?? 'ConfirmationNeeded',
    message: `${sayId(first.id)} ${first.why ?? ''}. To confirm: ${command}${then}. It deletes ${list}`.slice(0, 4096),
  }
}
