import { randomBytes } from 'node:crypto'
import type { Kube } from '../../adapters/kube/index.ts'
import { type GitOpsDeployment, type GitOpsDeploymentSyncRun, GitOpsDeploymentSyncRuns } from '../../api/index.ts'

/** Asks for a synchronisation, or for a look at what one would do. The run goes with its deployment. */
export function createRun(
  kube: Kube,
  { apiVersion, kind, metadata: { name, namespace, uid = '' } }: GitOpsDeployment,
  { what, ...spec }: { what: string; dryRun?: boolean; revisionID?: string | undefined },
): Promise<GitOpsDeploymentSyncRun> {
  const { revisionID, ...rest } = spec
  return kube.create(GitOpsDeploymentSyncRuns, {
    apiVersion,
    kind: GitOpsDeploymentSyncRuns.kind,
    metadata: {
      name: `${name.slice(0, 200)}-${what}-${randomBytes(4).toString('hex')}`,
      ...(namespace !== undefined && { namespace }),
      ownerReferences: [{ apiVersion, kind, name, uid }],
    },
    spec: { gitopsDeploymentName: name, ...rest, ...(revisionID !== undefined && { revisionID }) },
  })
}
