import type { GitOpsDeployment, GitProject } from '../../api/index.ts'
import type { Wish } from './following.ts'
import { revisionOf } from './repository.ts'

/** What a deployment wants from which repository; for a run, at the revision that the run names. */
export function wishOf(deployment: GitOpsDeployment, project: GitProject, revisionID?: string): Wish {
  const { source, serviceAccountName } = deployment.spec
  return {
    projectId: project.spec.path,
    projectUid: project.metadata.uid,
    namespace: deployment.metadata.namespace ?? '',
    serviceAccount: serviceAccountName || 'default',
    revision: revisionOf(revisionID ? { targetRevision: revisionID } : source),
    path: source.path,
  }
}
