import { type GitOpsDeployment, isDeleting, keyOf, refOf, sourceUrl } from '../../../api/index.ts'
import type { Snapshot } from '../../../engines/render/index.ts'
import { seconds } from '../../../std/index.ts'
import { ownerOf, type SyncServices } from '../services/services.ts'
import { revisionOf } from '../source/repository.ts'
import { byRepository, type SyncCaches, sameRepository } from '../watch/caches.ts'

/** A deployment that has not looked at a commit by then (suspended, broken, slow) is not waited for. */
const OTHERS_MAX_WAIT = seconds(10)

/**
 * A commit may move an object from one deployment to another. Whoever looks at it first must not delete what the other is
 * about to take over: it waits until all that follow the same revision have said what they want of this commit.
 */
export function isEarly(
  deployment: GitOpsDeployment,
  { commitId }: Snapshot,
  services: Pick<SyncServices, 'arrivals' | 'caches' | 'wants' | 'context'>,
): boolean {
  const { wants, arrivals, context } = services
  const since = arrivals.get(keyOf(refOf(deployment)))
  if (since?.commitId !== commitId || context.clock.now() - since.at > OTHERS_MAX_WAIT) return false
  return othersAt(deployment, services.caches).some((other) => wants.of(ownerOf(other).id)?.commitId !== commitId)
}

function othersAt(deployment: GitOpsDeployment, { deployments }: Pick<SyncCaches, 'deployments'>): GitOpsDeployment[] {
  const { source } = deployment.spec
  const revision = JSON.stringify(revisionOf(source))
  return deployments
    .by(byRepository.deployments, sameRepository(sourceUrl(source)))
    .filter((other) => other.metadata.uid !== deployment.metadata.uid)
    .filter((other) => !isDeleting(other) && !other.spec.suspend && other.spec.type === 'automated')
    .filter((other) => JSON.stringify(revisionOf(other.spec.source)) === revision)
}
