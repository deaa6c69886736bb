import type { Kube } from '../../adapters/kube/index.ts'
import { DeploymentTargets, kubeconfigIn, Secrets, type Workspace } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { titleOf } from './workspace.ts'

/** Does the work where the workspace runs, with the credentials of its target, which the person must be allowed to read. */
export async function withTarget<T>(
  kube: Kube,
  workspace: Workspace,
  work: (target: Kube, namespace: string) => Promise<T>,
): Promise<T> {
  const { namespace } = workspace.metadata
  const { name, namespace: home } = workspace.status?.target ?? {}
  if (!name || !home) {
    throw new Failure('not-found', `${titleOf(workspace)} has no target yet.`, {
      remedy: 'See with `berth get` what it waits for.',
    })
  }
  const target = await kube.get(DeploymentTargets, { name, namespace })
  if (!target) throw gone(`DeploymentTarget ${name}`)
  const { clusterCredentialsSecret, apiURL, allowInsecureSkipTLSVerify = false } = target.spec.kubernetesCredentials
  const secret = await kube.get(Secrets, { name: clusterCredentialsSecret, namespace })
  const kubeconfig = secret && kubeconfigIn(secret)
  if (!kubeconfig) throw gone(`Secret ${clusterCredentialsSecret} with the credentials of DeploymentTarget ${name}`)
  const { kubeFromSecret } = await import('../../adapters/kube/index.ts')
  const there = kubeFromSecret(kubeconfig, {
    server: apiURL,
    insecureSkipTLSVerify: allowInsecureSkipTLSVerify,
    reach: undefined,
  })
  try {
    return await work(there, home)
  } finally {
    await there.close()
  }
}

const gone = (what: string): Failure =>
  new Failure('not-found', `there is no ${what}.`, { remedy: 'Look at the claim: kubectl get deploymenttargetclaims' })
