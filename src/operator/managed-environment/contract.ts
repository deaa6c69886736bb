import {
  type CoreSecret,
  type GitOpsDeploymentManagedEnvironment,
  KUBECONFIG_KEY,
  keyOf,
  kubeconfigIn,
  secretTypes,
} from '../../api/index.ts'
import { Failure, redactUrls, type Secret } from '../../std/index.ts'

/** One namespace name; longer ones and other characters no API server takes. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** The URL as a text. Where it leads is judged when it is connected to. */
export function checkUrl({ spec }: GitOpsDeploymentManagedEnvironment): void {
  const { apiURL } = spec
  const url = URL.canParse(apiURL) ? new URL(apiURL) : undefined
  if (url?.protocol !== 'https:') {
    throw broken(
      'UnsupportedAPIURL',
      `spec.apiURL "${redactUrls(apiURL)}" is no https:// URL`,
      'Use the URL of the Kubernetes API',
    )
  }
  if (/[?&#]/.test(apiURL) || url.username || url.password) {
    throw broken(
      'UnsupportedAPIURL',
      `spec.apiURL "${redactUrls(apiURL)}" has a query, a fragment or a user in it`,
      "Use the bare URL, such as https://api.example.com:6443, and the same text in the kubeconfig's server",
    )
  }
}

export function checkNamespaces({ spec }: GitOpsDeploymentManagedEnvironment): void {
  const wrong = spec.namespaces?.find((name) => !NAMESPACE.test(name))
  if (wrong === undefined) return
  throw broken(
    'InvalidNamespaceList',
    `spec.namespaces contains "${wrong}", which is no name of a namespace`,
    'Use lower case letters, digits and "-", 63 characters at most',
  )
}

/** Checks the Secret. Upstream's own sentences come first, since clients compare them. */
export function kubeconfigOf(
  { metadata, spec }: GitOpsDeploymentManagedEnvironment,
  secret: CoreSecret | undefined,
): Secret<string> {
  const name = keyOf({ name: spec.credentialsSecret, namespace: metadata.namespace })
  if (!secret) {
    throw broken(
      'UnableToCreateClusterCredentials',
      `spec.credentialsSecret names Secret ${name}, which does not exist`,
      `Create it with type ${secretTypes.managedEnvironment} and a kubeconfig under the key "${KUBECONFIG_KEY}"`,
    )
  }
  if (secret.type !== secretTypes.managedEnvironment) {
    throw broken(
      'InvalidSecretType',
      `invalid secret type: ${secret.type ?? ''} (Secret ${name}, which spec.credentialsSecret names)`,
      `Delete it and create it again with type ${secretTypes.managedEnvironment}`,
    )
  }
  const kubeconfig = kubeconfigIn(secret)
  if (!kubeconfig) {
    throw broken(
      'MissingKubeConfigField',
      `missing ${KUBECONFIG_KEY} field in Secret (${name}, which spec.credentialsSecret names)`,
      `Store a kubeconfig under the key "${KUBECONFIG_KEY}"`,
    )
  }
  return kubeconfig
}

/** Our own part of createNewServiceAccount is missing, and using other credentials than asked for would be worse than saying so. */
export function checkServiceAccount({ spec }: GitOpsDeploymentManagedEnvironment): void {
  if (!spec.createNewServiceAccount) return
  throw broken(
    'UnableToInstallServiceAccount',
    'spec.createNewServiceAccount is true, but service accounts are not made in other clusters',
    'Make one there, put its token into the kubeconfig, and remove the field',
  )
}

export const broken = (reason: string, message: string, remedy: string) => new Failure('invalid', message, { reason, remedy })
