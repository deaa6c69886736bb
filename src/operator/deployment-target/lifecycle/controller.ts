import type { Reach } from '../../../adapters/kube/index.ts'
import {
  byHolder,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  DeploymentTargetClasses,
  DeploymentTargets,
  indexBy,
  keyOf,
  labels,
  refOf,
  refsBeside,
  type SpaceRequest,
  SpaceRequests,
} from '../../../api/index.ts'
import { type Controller, type ControllerContext, createWakeups, settled, type Watch } from '../../../engines/controller/index.ts'
import { credentialsFinder, watchCredentials } from '../../../engines/targets/index.ts'
import { createCredentialsAssessment } from './credentials.ts'
import { createReachability } from './reachability.ts'
import { type Lifecycle, reconcileTarget } from './reconcile.ts'
import { statusAfter } from './status.ts'

const byClass = indexBy(({ spec }: DeploymentTarget) => [spec.deploymentTargetClassName])

interface LifecycleSettings {
  /** Where targets may lead; everywhere without it. */
  reach?: Reach
}

/** Follows DeploymentTargets from their creation to their end (ADR 8: phases, release, reclaim). */
export function targetLifecycle(context: ControllerContext, { reach }: LifecycleSettings = {}): Controller<DeploymentTarget> {
  const { caches } = context
  const targets = caches.of(DeploymentTargets)
  const secretOf = credentialsFinder(caches)
  const wakeups = createWakeups()
  const reachability = createReachability({ context, targets, secretOf, reach, wakeups })
  const lifecycle: Lifecycle = {
    context,
    targets,
    claims: caches.of(DeploymentTargetClaims),
    classes: caches.of(DeploymentTargetClasses),
    secretOf,
    requests: caches.of(SpaceRequests),
    assess: createCredentialsAssessment(caches.isOpen),
    reachability,
  }
  const watches: Watch[] = [
    {
      kind: DeploymentTargetClaims,
      wakes: (claim: DeploymentTargetClaim) => [
        ...refsBeside(claim, claim.spec.targetName),
        ...targets.by(byHolder, keyOf(refOf(claim))).map(refOf),
      ],
    },
    ...watchCredentials(caches, (target) => [refOf(target)]),
    {
      kind: DeploymentTargetClasses,
      wakes: ({ metadata }: DeploymentTargetClass) => targets.by(byClass, metadata.name).map(refOf),
    },
    {
      kind: SpaceRequests,
      wakes: (request: SpaceRequest) => refsBeside(request, request.metadata.labels?.[labels.target]),
    },
  ]
  return {
    name: 'target-lifecycle',
    kind: DeploymentTargets,
    watches,
    reconcile: (target) => reconcileTarget(target, lifecycle),
    async gone(ref) {
      reachability.forget(ref)
      return settled()
    },
    wakeups,
    failed: (target, failure) => statusAfter(target, failure, lifecycle.assess(target, secretOf(target))),
  }
}
