import { OF_KUBECONFIGS, secretWatches } from '../../adapters/kube/index.ts'
import {
  byClaimName,
  byTarget,
  type CoreSecret,
  claimRefOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargets,
  type Environment,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  labels,
  type Ref,
  refOf,
  refsBeside,
} from '../../api/index.ts'
import type { Watch } from '../../engines/controller/index.ts'
import { bySecret, type EnvironmentCaches } from './caches.ts'
import { environmentNameIn } from './desired.ts'
import { ownersOf } from './possession.ts'

/** These wake an Environment, too: its claim, the target behind it, the Secret behind that, and what was made for it. */
export const watchesOf = (caches: EnvironmentCaches): Watch[] => [
  { kind: DeploymentTargetClaims, wakes: (claim: DeploymentTargetClaim) => environmentsOfClaim(caches, claim.metadata) },
  { kind: DeploymentTargets, wakes: (target: DeploymentTarget) => environmentsOfTarget(caches, target) },
  {
    kind: GitOpsDeploymentManagedEnvironments,
    wakes: (managed: GitOpsDeploymentManagedEnvironment) => [
      ...ownersOf(managed),
      // One that somebody made under our name is in the way until it goes.
      ...refsBeside(managed, environmentNameIn.managedEnvironment(managed.metadata.name)),
    ],
  },
  ...secretWatches(OF_KUBECONFIGS, (secret) => environmentsOfSecret(caches, secret)),
]

const environmentsOfClaim = ({ environments }: EnvironmentCaches, { name, namespace }: Ref): Ref[] =>
  environments.by(byClaimName, `${namespace}/${name}`).map(refOf)

function environmentsOfTarget(caches: EnvironmentCaches, target: DeploymentTarget): Ref[] {
  const { name, namespace } = target.metadata
  const named = caches.claims.by(byTarget, `${namespace}/${name}`).map(({ metadata }) => metadata.name)
  const holder = claimRefOf(target)?.name
  const claims = new Set(holder ? [...named, holder] : named)
  return [...claims].flatMap((claim) => environmentsOfClaim(caches, { name: claim, namespace }))
}

function environmentsOfSecret(caches: EnvironmentCaches, secret: CoreSecret): Ref[] {
  const { name, namespace, labels: marks } = secret.metadata
  const key = `${namespace}/${name}`
  return [
    ...caches.environments.by(bySecret.environments, key).map((environment: Environment) => refOf(environment)),
    ...caches.targets.by(bySecret.targets, key).flatMap((target) => environmentsOfTarget(caches, target)),
    ...refsBeside(secret, marks?.[labels.environmentSecret]),
    ...refsBeside(secret, environmentNameIn.secretCopy(name)),
  ]
}
