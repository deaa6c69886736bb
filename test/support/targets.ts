import {
  type CoreSecret,
  claimRefOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  DeploymentTargetClasses,
  DeploymentTargets,
} from '../../src/api/index.ts'

export const API_URL = 'https://api.target.example:6443'

export const kubeconfigFor = (server: string, token = 'not-a-real-token'): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'target', cluster: { server } }],
    users: [{ name: 'deployer', user: { token } }],
    contexts: [{ name: 'default', context: { cluster: 'target', user: 'deployer' } }],
    'current-context': 'default',
  })

export const credentialsSecret = (namespace: string, name?: string, server = API_URL): CoreSecret =>
  kubeconfigSecret(namespace, kubeconfigFor(server), name)

/** What a target names as its credentials. */
export const kubeconfigSecret = (namespace: string, kubeconfig: string | Buffer, name = 'credentials'): CoreSecret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  type: 'Opaque',
  data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
})

export const target = (
  namespace: string,
  name: string,
  spec: Partial<DeploymentTarget['spec']> = {},
  metadata: Partial<DeploymentTarget['metadata']> = {},
): DeploymentTarget => ({
  apiVersion: 'appstudio.redhat.com/v1alpha1',
  kind: DeploymentTargets.kind,
  metadata: { name, namespace, ...metadata },
  spec: {
    deploymentTargetClassName: 'by-hand',
    kubernetesCredentials: { defaultNamespace: 'team-a', apiURL: API_URL, clusterCredentialsSecret: 'credentials' },
    ...spec,
  },
})

export const claim = (
  namespace: string,
  name: string,
  spec: Partial<DeploymentTargetClaim['spec']> = {},
  metadata: Partial<DeploymentTargetClaim['metadata']> = {},
): DeploymentTargetClaim => ({
  apiVersion: 'appstudio.redhat.com/v1alpha1',
  kind: DeploymentTargetClaims.kind,
  metadata: { name, namespace, ...metadata },
  spec: { deploymentTargetClassName: 'by-hand', ...spec },
})

export const targetClass = (name: string, spec: Partial<DeploymentTargetClass['spec']> = {}): DeploymentTargetClass => ({
  apiVersion: 'appstudio.redhat.com/v1alpha1',
  kind: DeploymentTargetClasses.kind,
  metadata: { name },
  spec: { provisioner: 'example.com/nobody', reclaimPolicy: 'Delete', ...spec },
})

/** The name and UID that the target carries, for assertions. */
export const holderOf = (object: DeploymentTarget) => claimRefOf(object)
