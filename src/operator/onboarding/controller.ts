import { DeploymentTargetClasses, labels, type Namespace, Namespaces, refOf, YES } from '../../api/index.ts'
import type { Controller, ControllerContext } from '../../engines/controller/index.ts'
import { missingStages } from './desired.ts'
import { MANAGER, onboard } from './reconcile.ts'

/** Makes Environments and claims in advance where a platform engineer asks for it (ADR 8: use case "during onboarding"). */
export function onboarding(context: ControllerContext): Controller<Namespace> {
  const asked = { labels: `${labels.onboarding}=${YES}` }
  const namespaces = context.caches.of(Namespaces, asked)
  const classes = context.caches.of(DeploymentTargetClasses)
  return {
    name: MANAGER,
    kind: Namespaces,
    ...asked,
    watches: [
      {
        kind: DeploymentTargetClasses,
        // A class that appears, goes or becomes the default may settle which one is meant.
        wakes: () => [...namespaces.all()].filter((namespace) => missingStages(namespace).length > 0).map(refOf),
      },
    ],
    reconcile: (namespace) => onboard(namespace, [...classes.all()], context),
  }
}
