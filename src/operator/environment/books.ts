import { type Cache, type Caches, OF_KUBECONFIGS, secretFinder } from '../../adapters/kube/index.ts'
import {
  type CoreSecret,
  claimRefOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargets,
  type Environment,
  Environments,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  type KubeObject,
  type Ref,
} from '../../api/index.ts'

/** The caches that this room reads. */
export interface EnvironmentCaches {
  environments: Cache<Environment>
  claims: Cache<DeploymentTargetClaim>
  targets: Cache<DeploymentTarget>
  managed: Cache<GitOpsDeploymentManagedEnvironment>
  /** One that can hold credentials. */
  secret(ref: Ref): CoreSecret | undefined
}

/** Names of indexes are shared by everybody who reads the same cache, so ours say whose they are. */
export const BY = {
  claim: 'environment/claim',
  secret: 'environment/secret',
  target: 'environment/target',
  claimRef: 'environment/claimRef',
} as const

export const openBooks = (caches: Caches): EnvironmentCaches => ({
  environments: caches.of(Environments, {
    indexes: {
      [BY.claim]: (environment: Environment) => inNamespace(environment, claimNameOf(environment)),
      [BY.secret]: (environment: Environment) => inNamespace(environment, credentialsOf(environment)?.clusterCredentialsSecret),
    },
  }),
  claims: caches.of(DeploymentTargetClaims, {
    indexes: { [BY.target]: (claim: DeploymentTargetClaim) => inNamespace(claim, targetNameOf(claim)) },
  }),
  targets: caches.of(DeploymentTargets, {
    indexes: {
      [BY.secret]: (target: DeploymentTarget) => inNamespace(target, target.spec.kubernetesCredentials.clusterCredentialsSecret),
      [BY.claimRef]: (target: DeploymentTarget) => inNamespace(target, claimRefOf(target)?.name),
    },
  }),
  managed: caches.of(GitOpsDeploymentManagedEnvironments),
  secret: secretFinder(caches, OF_KUBECONFIGS),
})

/** `""` is how a Go client writes "not set". */
export const claimNameOf = ({ spec }: Environment): string | undefined =>
  spec.configuration?.target?.deploymentTargetClaim.claimName || undefined

export const credentialsOf = ({ spec }: Environment) => spec.unstableConfigurationFields?.kubernetesCredentials

/** The target that a claim says it has, or wants. */
export const targetNameOf = ({ spec, status }: DeploymentTargetClaim): string | undefined =>
  (status?.target?.name ?? spec.targetName) || undefined

const inNamespace = ({ metadata }: KubeObject, name: string | undefined): string[] =>
  name ? [`${metadata.namespace}/${name}`] : []
