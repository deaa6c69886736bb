import { OF_TARGETS, type Reach, secretFinder } from '../../../adapters/kube/index.ts'
import {
  type CoreSecret,
  claimRefOf,
  credentialsKeyOf,
  credentialsRefOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  DeploymentTargetClasses,
  DeploymentTargets,
  keyOf,
  labels,
  opens,
  refOf,
  Secrets,
  type SpaceRequest,
  SpaceRequests,
} from '../../../api/index.ts'
import { type Controller, settled, type Watch, type Workshop } from '../../../engines/controller/index.ts'
import { createJudge } from './credentials.ts'
import { createReachability } from './reachability.ts'
import { type Lifecycle, reconcileTarget } from './reconcile.ts'
import { statusAfter } from './status.ts'

const indexes = {
  secret: (target: DeploymentTarget) => [credentialsKeyOf(target)],
  holder: (target: DeploymentTarget) => [`${target.metadata.namespace}/${claimRefOf(target)?.name ?? ''}`],
  class: ({ spec }: DeploymentTarget) => [spec.deploymentTargetClassName],
}
const requestIndexes = {
  target: ({ metadata }: SpaceRequest) => [`${metadata.namespace}/${metadata.labels?.[labels.target] ?? ''}`],
}

export interface LifecycleSettings {
  /** Where targets may lead; everywhere without it. */
  reach?: Reach
}

/** Follows DeploymentTargets from their creation to their end (ADR 8: phases, release, reclaim). */
export function targetLifecycle(workshop: Workshop, { reach }: LifecycleSettings = {}): Controller<DeploymentTarget> {
  const { caches } = workshop
  const targets = caches.of(DeploymentTargets, { indexes })
  const secretBy = secretFinder(caches, OF_TARGETS)
  const secretOf = (target: DeploymentTarget): CoreSecret | undefined => {
    const secret = secretBy(credentialsRefOf(target))
    return secret && opens(secret, target) ? secret : undefined
  }
  const reachability = createReachability({ workshop, targets, secretOf, reach })
  const lifecycle: Lifecycle = {
    workshop,
    targets,
    claims: caches.of(DeploymentTargetClaims),
    classes: caches.of(DeploymentTargetClasses),
    secretOf,
    requests: caches.of(SpaceRequests, { indexes: requestIndexes }),
    judge: createJudge(caches.isOpen),
    reachability,
  }
  const watches: Watch[] = [
    {
      kind: DeploymentTargetClaims,
      wakes({ metadata, spec }: DeploymentTargetClaim) {
        const named = spec.targetName ? [{ name: spec.targetName, namespace: metadata.namespace }] : []
        return [...named, ...targets.by('holder', `${metadata.namespace}/${metadata.name}`).map(refOf)]
      },
    },
    ...OF_TARGETS.map((options) => ({
      kind: Secrets,
      ...options,
      wakes: (secret: CoreSecret) => targets.by('secret', keyOf(refOf(secret))).map(refOf),
    })),
    {
      kind: DeploymentTargetClasses,
      wakes: ({ metadata }: DeploymentTargetClass) => targets.by('class', metadata.name).map(refOf),
    },
    {
      kind: SpaceRequests,
      wakes({ metadata }: SpaceRequest) {
        const name = metadata.labels?.[labels.target]
        return name ? [{ name, namespace: metadata.namespace }] : []
      },
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
    doorbell: reachability.run,
    failed: (target, failure) => statusAfter(target, failure, lifecycle.judge(target, secretOf(target))),
  }
}
