import {
  type CoreSecret,
  type DeploymentTargetClaim,
  type Environment,
  type EnvironmentSpec,
  Environments,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  type KubeObject,
  secretTypes,
} from '../../../src/api/index.ts'
import { API_URL, kubeconfigFor, kubeconfigSecret } from '../targets.ts'

type Metadata = Partial<KubeObject['metadata']>

export const environment = (
  namespace: string,
  name: string,
  spec: Partial<EnvironmentSpec> = {},
  metadata: Metadata = {},
): Environment => ({
  apiVersion: 'appstudio.redhat.com/v1alpha1',
  kind: Environments.kind,
  metadata: { name, namespace, ...metadata },
  spec: { displayName: `The ${name} environment`, deploymentStrategy: 'Manual', ...spec },
})

/** The part of an Environment's spec that names a claim. */
export const viaClaim = (claimName: string): Partial<EnvironmentSpec> => ({
  configuration: { target: { deploymentTargetClaim: { claimName } } },
})

type Credentials = NonNullable<NonNullable<EnvironmentSpec['unstableConfigurationFields']>['kubernetesCredentials']>

/** The part of an Environment's spec that holds credentials of its own. */
export const viaCredentials = (credentials: Partial<Credentials> = {}): Partial<EnvironmentSpec> => ({
  unstableConfigurationFields: {
    clusterType: 'OpenShift',
    kubernetesCredentials: {
      targetNamespace: 'team-a',
      apiURL: API_URL,
      clusterCredentialsSecret: 'credentials',
      allowInsecureSkipTLSVerify: false,
      ...credentials,
    },
  },
})

export const managedEnvironment = (
  namespace: string,
  name: string,
  spec: Partial<GitOpsDeploymentManagedEnvironment['spec']> = {},
  metadata: Metadata = {},
): GitOpsDeploymentManagedEnvironment => ({
  apiVersion: 'managed-gitops.redhat.com/v1alpha1',
  kind: GitOpsDeploymentManagedEnvironments.kind,
  metadata: { name, namespace, ...metadata },
  spec: { apiURL: API_URL, credentialsSecret: 'credentials', allowInsecureSkipTLSVerify: false, ...spec },
})

/** A Secret of the type that a GitOpsDeploymentManagedEnvironment wants. */
export const managedSecret = (namespace: string, name: string, kubeconfig = kubeconfigFor(API_URL)): CoreSecret => ({
  ...kubeconfigSecret(namespace, kubeconfig, name),
  type: secretTypes.managedEnvironment,
})

/** The status with which the binder leaves a claim that has this target. */
export const boundTo = (targetName: string): Pick<DeploymentTargetClaim, 'status'> => ({
  status: { phase: 'Bound', target: { name: targetName } },
})
