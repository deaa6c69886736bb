import type { Cache } from '../../../adapters/kube/index.ts'
import type { Workspace, WorkspaceStatus } from '../../../api/index.ts'
import { defined } from '../../../std/index.ts'
import { besideName } from '../desired/parts.ts'
import { type Obstacle, targetObstacle } from '../place/obstacle.ts'
import type { Target } from '../place/target.ts'

/** The backup that a new workspace begins with. Once it was used, nothing is asked for any more. */
export function restoreFor(
  workspace: Workspace,
  target: Target,
  workspaces: Cache<Workspace>,
): WorkspaceStatus['restoredFrom'] | Obstacle {
  const { restoreFrom, owner } = workspace.spec
  if (!restoreFrom) return undefined
  if (workspace.status?.restoredFrom) return workspace.status.restoredFrom
  const source = workspaces.get({ name: restoreFrom.workspace, namespace: workspace.metadata.namespace })
  const named = `Workspace ${restoreFrom.workspace}`
  const refused = (reason: string, message: string, remedy: string): Obstacle =>
    targetObstacle(reason, { message: `spec.restoreFrom: ${message}`, remedy, waitingFor: named })
  if (!source)
    return refused('RestoreNotFound', `there is no ${named} in this namespace`, 'Make the workspace again with another.')
  // A person who could restore somebody else's backup would read their files.
  if (owner === undefined || source.spec.owner !== owner) {
    const remedy = 'Have its owner make the workspace, and share it.'
    return refused('RestoreNotAllowed', `${named} is not of the same owner`, remedy)
  }
  const ready = (source.status?.backups ?? []).filter(({ state }) => state === 'Ready')
  const backup = ready.find((each) => restoreFrom.backup === undefined || each.name === restoreFrom.backup)
  if (!backup) {
    const there = ready.length > 0 ? `there is ${ready.map((each) => each.name).join(', ')}` : 'it has none that is ready'
    const what = restoreFrom.backup === undefined ? 'a backup' : `the backup ${restoreFrom.backup}`
    const remedy = 'Stop it once, with backup.onStop in its class.'
    return refused('BackupNotFound', `${named} has not ${what}: ${there}`, remedy)
  }
  const { apiURL, namespace, claimName = '' } = source.status?.target ?? {}
  if (apiURL !== target.apiURL || namespace !== target.namespace)
    return refused(
      'BackupElsewhere',
      `the backup ${backup.name} is in namespace ${namespace} of ${apiURL}, and this workspace in ${target.namespace} of ${target.apiURL}`,
      `Make the workspace again with spec.target.claimName: ${claimName}`,
    )
  const { name, kind, size } = backup
  return { name, kind, ...defined({ volume: kind === 'Archive' ? besideName(source, 'archives') : undefined, size }) }
}
