import { isNamespaceTerminating } from '../../adapters/kube/index.ts'
import { type Environment, Environments } from '../../api/index.ts'
import { type Controller, type ControllerContext, createWakeups, settled } from '../../engines/controller/index.ts'
import { type EnvironmentServices, MANAGER, sweepAfter, vanishedOwners } from './belongings.ts'
import { openCaches } from './caches.ts'
import { reconcileEnvironment } from './reconcile.ts'
import { failedStatus } from './status.ts'
import { watchesOf } from './watches.ts'

/** Keeps a GitOpsDeploymentManagedEnvironment for each Environment that leads somewhere (ADR 8: EnvironmentController). */
export function environments(context: ControllerContext): Controller<Environment> {
  const caches = openCaches(context.caches)
  const services: EnvironmentServices = { context, caches }
  return {
    name: MANAGER,
    kind: Environments,
    watches: watchesOf(caches),
    async reconcile(environment) {
      try {
        return await reconcileEnvironment(environment, services)
      } catch (failure) {
        // Everything in a namespace that goes will go with it.
        if (isNamespaceTerminating(failure)) return settled()
        throw failure
      }
    },
    gone: (ref) => sweepAfter(ref, services),
    failed: failedStatus,
    wakeups: createWakeups(({ wake }) => vanishedOwners(caches).forEach(wake)),
  }
}
