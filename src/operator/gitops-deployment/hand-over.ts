import { type GitOpsDeployment, isDeleting, keyOf, refOf } from '../../api/index.ts'
import type { Snapshot } from '../../engines/render/index.ts'
import { seconds } from '../../std/index.ts'
import { byRepository } from './books.ts'
import { revisionOf } from './repository.ts'
import { sameRepository } from './same-repository.ts'
import { ownerOf, type Shop } from './shop.ts'

/** Whoever has not looked at a commit by then (suspended, broken, slow) is not waited for. */
const PATIENCE = seconds(10)

/**
 * A commit may move an object from one deployment to another. Whoever looks at it first must not delete what the other is
 * about to take over: it waits until all that follow the same revision have said what they want of this commit.
 */
export function isEarly(deployment: GitOpsDeployment, { commitId }: Snapshot, shop: Shop): boolean {
  const { wants, arrivals, workshop } = shop
  const since = arrivals.get(keyOf(refOf(deployment)))
  if (since?.commitId !== commitId || workshop.clock.now() - since.at > PATIENCE) return false
  return othersAt(deployment, shop).some((other) => wants.of(ownerOf(other).id)?.commitId !== commitId)
}

function othersAt(deployment: GitOpsDeployment, { books }: Shop): GitOpsDeployment[] {
  const { source } = deployment.spec
  const revision = JSON.stringify(revisionOf(source))
  return books.deployments
    .by(byRepository.deployments, sameRepository(source.repoURL))
    .filter((other) => other.metadata.uid !== deployment.metadata.uid)
    .filter((other) => !isDeleting(other) && !other.spec.suspend && other.spec.type === 'automated')
    .filter((other) => JSON.stringify(revisionOf(other.spec.source)) === revision)
}
