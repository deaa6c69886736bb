import { claimRefOf, targetNameOf } from './deployment-target.ts'
import type {
  DeploymentTarget,
  DeploymentTargetClaim,
  Environment,
  GitOpsDeploymentManagedEnvironment,
  SpaceRequest,
} from './kinds.ts'
import type { KubeObject, Ref } from './kube-object.ts'
import { labels } from './labels.ts'

/**
 * By which values the objects of a cache are found. It is made once, at the top of a file, and is its own key: two rooms that read the same
 * kind cannot take the other's index for their own.
 */
export interface Index<T> {
  readonly of: (object: T) => string[]
}

export const indexBy = <T>(of: (object: T) => string[]): Index<T> => ({ of })

/** The key of an object of this name in the same namespace; none without a name. */
export const keysBeside = ({ metadata }: KubeObject, name: string | undefined): string[] =>
  name ? [`${metadata.namespace}/${name}`] : []

/** The object of this name in the same namespace; none without a name. */
export const refsBeside = ({ metadata }: KubeObject, name: string | undefined): Ref[] =>
  name ? [{ name, namespace: metadata.namespace }] : []

export const byUid = indexBy(({ metadata: { uid } }: KubeObject) => (uid ? [uid] : []))

/** By the UID of the claim that it was made for. */
export const byClaimUid = indexBy(({ metadata }: KubeObject) => {
  const uid = metadata.labels?.[labels.claimUid]
  return uid === undefined ? [] : [uid]
})

/** By the claim that a target names. */
export const byHolder = indexBy((target: DeploymentTarget) => keysBeside(target, claimRefOf(target)?.name))

/** By the target that a claim has, or wants. */
export const byTarget = indexBy((claim: DeploymentTargetClaim) => keysBeside(claim, targetNameOf(claim)))

/** By the claim that an Environment names. */
export const byClaimName = indexBy((environment: Environment) =>
  keysBeside(environment, environment.spec.configuration?.target?.deploymentTargetClaim.claimName),
)

export const byCredentialsSecret = indexBy((environment: GitOpsDeploymentManagedEnvironment) =>
  keysBeside(environment, environment.spec.credentialsSecret),
)

/** By the claim that a request was made for: its UID, and `namespace/name` for those without. */
export const byClaim = indexBy((request: SpaceRequest) => {
  const uids = byClaimUid.of(request)
  return uids.length > 0 ? uids : keysBeside(request, request.metadata.labels?.[labels.claim])
})

/** By the target that was made of a request. */
export const byMadeTarget = indexBy((request: SpaceRequest) => keysBeside(request, request.metadata.labels?.[labels.target]))
