import { randomBytes } from 'node:crypto'
import { type GitOpsDeployment, type GitOpsDeploymentSyncRun, GitOpsDeploymentSyncRuns } from './kinds.ts'

/** Asks for a synchronisation, or for a look at what one would do; `what` of both stands in its name. The run goes with its deployment. */
export const syncRunOf = (
  { apiVersion, kind, metadata: { name, namespace, uid = '' } }: GitOpsDeployment,
  what: string,
  spec: Omit<GitOpsDeploymentSyncRun['spec'], 'gitopsDeploymentName'> = {},
): GitOpsDeploymentSyncRun => ({
  apiVersion,
  kind: GitOpsDeploymentSyncRuns.kind,
  metadata: {
    name: `${name.slice(0, 200)}-${what}-${randomBytes(4).toString('hex')}`,
    ...(namespace !== undefined && { namespace }),
    ownerReferences: [{ apiVersion, kind, name, uid }],
  },
  spec: { gitopsDeploymentName: name, ...spec },
})
