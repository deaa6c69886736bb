import { type Kube, kubeFromSecret, type TargetOptions } from '../../adapters/kube/index.ts'
import { type DeploymentTarget, DeploymentTargets, type GitOpsDeploymentManagedEnvironment, nameOf } from '../../api/index.ts'
import type { Secret } from '../../std/index.ts'

/** The API of a target, and with what and for whom it is called. */
export interface TargetCredentials {
  apiURL: string
  skipTLSVerify: boolean
  kubeconfig: Secret<string>
  /** The namespace on whose behalf it is called. */
  tenant: string
  /** The field that names the URL, for the failure when it may not lead there. */
  subject: { object?: string; field: string }
}

export function credentialsForTarget({ metadata, spec }: DeploymentTarget, kubeconfig: Secret<string>): TargetCredentials {
  const { apiURL, allowInsecureSkipTLSVerify: skipTLSVerify = false } = spec.kubernetesCredentials
  const subject = { object: `${DeploymentTargets.kind} ${metadata.name}`, field: 'spec.kubernetesCredentials.apiURL' }
  return { apiURL, skipTLSVerify, kubeconfig, tenant: metadata.namespace ?? '', subject }
}

export function credentialsForEnvironment(
  environment: GitOpsDeploymentManagedEnvironment,
  kubeconfig: Secret<string>,
): TargetCredentials {
  const { apiURL, allowInsecureSkipTLSVerify: skipTLSVerify = false } = environment.spec
  const subject = { object: nameOf(environment), field: 'spec.apiURL' }
  return { apiURL, skipTLSVerify, kubeconfig, tenant: environment.metadata.namespace ?? '', subject }
}

type Means = Pick<TargetOptions, 'reach' | 'clock' | 'meter' | 'timeout' | 'maxBytes'>

/** A client for the target. Who opens it has to close it. */
export const openTarget = ({ apiURL, skipTLSVerify, kubeconfig, tenant, subject }: TargetCredentials, means: Means): Kube =>
  kubeFromSecret(kubeconfig, { ...means, server: apiURL, insecureSkipTLSVerify: skipTLSVerify, tenant, subject })

/** Does the work with a client that is closed afterwards. */
export async function withTarget<T>(credentials: TargetCredentials, means: Means, work: (kube: Kube) => Promise<T>): Promise<T> {
  const kube = openTarget(credentials, means)
  try {
    return await work(kube)
  } finally {
    await kube.close()
  }
}
