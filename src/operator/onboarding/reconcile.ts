import { isNamespaceTerminating } from '../../adapters/kube/index.ts'
import {
  annotations,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  Environments,
  isDeleting,
  type Namespace,
  Namespaces,
  refOf,
} from '../../api/index.ts'
import { createUnlessThere } from '../../engines/apply/index.ts'
import { type ControllerContext, type Next, settled } from '../../engines/controller/index.ts'
import { chooseClass, claimFor, environmentFor, madeStages, missingStages } from './desired.ts'

export const MANAGER = 'onboarding'

/** One labelled namespace: make what it never had, then write down that it had it. */
export async function onboard(
  namespace: Namespace,
  classes: DeploymentTargetClass[],
  { kube, events }: ControllerContext,
): Promise<Next> {
  if (isDeleting(namespace)) return settled()

  const stages = missingStages(namespace)
  if (stages.length === 0) return settled()

  const className = chooseClass(namespace, classes)
  try {
    // What is there already, by a user or by an interrupted earlier try, is left as it is.
    for (const stage of stages) {
      await createUnlessThere(kube, DeploymentTargetClaims, claimFor(stage, namespace, className), MANAGER)
      await createUnlessThere(kube, Environments, environmentFor(stage, namespace), MANAGER)
    }
  } catch (failure) {
    if (isNamespaceTerminating(failure)) return settled()
    throw failure
  }
  const names = stages.map(({ name }) => name)
  const onboarded = [...madeStages(namespace), ...names].join(',')
  await kube.patch(
    Namespaces,
    refOf(namespace),
    { metadata: { annotations: { [annotations.onboarded]: onboarded } } },
    { manager: MANAGER },
  )
  events.record(namespace, {
    type: 'Normal',
    reason: 'Onboarded',
    message: `made Environments and DeploymentTargetClaims ${names.join(', ')} of class ${className}`,
  })
  return settled()
}
