import type { Reach } from '../../adapters/kube/index.ts'
import { type GitOpsDeployment, GitOpsDeployments, keyOf } from '../../api/index.ts'
import { type Controller, settled, type Workshop } from '../../engines/controller/index.ts'
import { createRenderer } from '../../engines/gitops/index.ts'
import { openBooks } from './books.ts'
import { createFollowing, type Source } from './following.ts'
import { reconcileDeployment } from './reconcile.ts'
import { NAME, type Shop } from './shop.ts'
import { statusFor } from './status.ts'
import { createTargets } from './targets.ts'
import { createVariableReader } from './variables.ts'
import { watchesOf } from './watches.ts'

export interface GitOpsSettings {
  /** Where commits come from: the object stream of kas. */
  source: Source
  /** The kubectl program, which renders kustomizations. */
  kubectl: string
  /** Where managed environments may lead; everywhere without it. */
  reach?: Reach
}

/** Applies what repositories say, in the destination and as the tenant that each GitOpsDeployment names. */
export function gitopsDeployments(workshop: Workshop, { source, kubectl, reach }: GitOpsSettings): Controller<GitOpsDeployment> {
  const books = openBooks(workshop)
  const following = createFollowing(source, workshop.clock)
  const targets = createTargets(reach)
  const variables = createVariableReader(workshop.kube, workshop.clock)
  const shop: Shop = { workshop, books, following, targets, render: createRenderer({ kubectl }), variables, notes: new Map() }
  return {
    name: NAME,
    kind: GitOpsDeployments,
    watches: watchesOf(books),
    reconcile: (deployment, signal) => reconcileDeployment(deployment, shop, signal),
    doorbell(ring, signal) {
      following.ringing(ring, signal)
      signal.addEventListener('abort', () => targets.close(), { once: true })
    },
    gone(ref) {
      following.end(ref)
      shop.notes.delete(keyOf(ref))
      variables.forget(keyOf(ref))
      return Promise.resolve(settled())
    },
    failed: statusFor,
  }
}
