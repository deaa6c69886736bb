import { type Cache, type Caches, OF_KUBECONFIGS, secretFinder } from '../../adapters/kube/index.ts'
import {
  type CoreSecret,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargets,
  type Environment,
  Environments,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  indexBy,
  keysBeside,
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

/** By the Secret that holds the credentials. */
export const bySecret = {
  environments: indexBy((environment: Environment) =>
    keysBeside(environment, credentialsOf(environment)?.clusterCredentialsSecret),
  ),
  targets: indexBy((target: DeploymentTarget) => keysBeside(target, target.spec.kubernetesCredentials.clusterCredentialsSecret)),
}

export const openCaches = (caches: Caches): EnvironmentCaches => ({
  environments: caches.of(Environments),
  claims: caches.of(DeploymentTargetClaims),
  targets: caches.of(DeploymentTargets),
  managed: caches.of(GitOpsDeploymentManagedEnvironments),
  secret: secretFinder(caches, OF_KUBECONFIGS),
})

/** `""` is how a Go client writes "not set". */
export const claimNameOf = ({ spec }: Environment): string | undefined =>
  spec.configuration?.target?.deploymentTargetClaim.claimName || undefined

export const credentialsOf = ({ spec }: Environment) => spec.unstableConfigurationFields?.kubernetesCredentials
