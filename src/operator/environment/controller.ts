import { isNamespaceTerminating } from '../../adapters/kube/index.ts'
import { type Environment, Environments } from '../../api/index.ts'
import { type Controller, createWakeups, settled, type Workshop } from '../../engines/controller/index.ts'
import { type Belongings, MANAGER } from './belongings.ts'
import { openBooks } from './books.ts'
import { sweepAfter, vanishedOwners } from './orphans.ts'
import { reconcileEnvironment } from './reconcile.ts'
import { failedStatus } from './status.ts'
import { watchesOf } from './watches.ts'

/** Keeps a GitOpsDeploymentManagedEnvironment for each Environment that leads somewhere (ADR 8: EnvironmentController). */
export function environments(workshop: Workshop): Controller<Environment> {
  const books = openBooks(workshop.caches)
  const belongings: Belongings = { workshop, books }
  return {
    name: MANAGER,
    kind: Environments,
    watches: watchesOf(books),
    async reconcile(environment) {
      try {
        return await reconcileEnvironment(environment, belongings)
      } catch (failure) {
        // Everything in a namespace that goes will go with it.
        if (isNamespaceTerminating(failure)) return settled()
        throw failure
      }
    },
    gone: (ref) => sweepAfter(ref, belongings),
    failed: failedStatus,
    wakeups: createWakeups(({ wake }) => vanishedOwners(books).forEach(wake)),
  }
}
