import type { GitOpsDeployment } from '../../api/index.ts'
import type { Books } from './books.ts'
import type { Wish } from './following.ts'
import { projectOf, revisionOf } from './repository.ts'

/** What a deployment wants from which repository; for a run, at the revision that the run names. */
export function wishOf(deployment: GitOpsDeployment, books: Books, revisionID?: string): Wish {
  const { source, serviceAccountName } = deployment.spec
  const project = projectOf(deployment, books)
  return {
    projectId: project.spec.path,
    projectUid: project.metadata.uid,
    namespace: deployment.metadata.namespace ?? '',
    serviceAccount: serviceAccountName || 'default',
    revision: revisionOf(revisionID ? { targetRevision: revisionID } : source),
    path: source.path,
  }
}
