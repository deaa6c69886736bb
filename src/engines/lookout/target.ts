import type { Kube, readTarget, TargetOptions } from '../../adapters/kube/index.ts'
import {
  type DeploymentTarget,
  DeploymentTargets,
  isPrivate,
  kubeconfigIn,
  nameOf,
  Secrets,
  type Workspace,
} from '../../api/index.ts'
import { Failure, isFailure } from '../../std/index.ts'

/** Limits where a target may lie, and how much it may say. */
export type TargetReach = Pick<TargetOptions, 'reach'>

/** How another program gets in, with what is safe to take from a kubeconfig of somebody else. */
export type TargetLogin = ReturnType<typeof readTarget>

/**
 * Does the work where the workspace runs, with the credentials of its target, which the person must be allowed to read; where the target is
 * private, in the person's own name: then there is no login.
 */
export async function withTarget<T>(
  kube: Kube,
  workspace: Workspace,
  reach: TargetReach,
  work: (target: Kube, namespace: string, login?: TargetLogin) => Promise<T>,
): Promise<T> {
  const { namespace } = workspace.metadata
  const { name, namespace: home, apiURL: itsURL } = workspace.status?.target ?? {}
  if (!name || !home) {
    throw new Failure('not-found', `${nameOf(workspace)} has no target yet.`, {
      remedy: 'See with `berth get` what it waits for.',
    })
  }
  const target = await kube.get(DeploymentTargets, { name, namespace })
  if (!target) throw gone(`DeploymentTarget ${name}`)
  const { apiURL } = target.spec.kubernetesCredentials
  // Somebody who changes a target must not lead those who look at its workspaces to a server of their choice.
  if (apiURL !== itsURL) {
    throw new Failure('not-found', `DeploymentTarget ${name} does not lead to the cluster of ${nameOf(workspace)} any more.`, {
      remedy: `Let its spec.kubernetesCredentials.apiURL be ${itsURL ?? 'what it was'} again.`,
    })
  }
  if (isPrivate(target)) return await work(kube, home).catch((thrown: unknown) => Promise.reject(refusalOf(thrown, workspace)))
  return insideTarget(kube, target, reach, (there, login) => work(there, home, login))
}

/**
 * Does the work in the cluster of a target, with the credentials beside it, which the person must be allowed to read; where the target is
 * private, in the person's own name: then there is no login.
 */
export async function insideTarget<T>(
  kube: Kube,
  target: DeploymentTarget,
  reach: TargetReach,
  work: (there: Kube, login?: TargetLogin) => Promise<T>,
): Promise<T> {
  if (isPrivate(target)) return work(kube)
  const { name, namespace = '' } = target.metadata
  const { clusterCredentialsSecret, apiURL, allowInsecureSkipTLSVerify = false } = target.spec.kubernetesCredentials
  const secret = await kube.get(Secrets, { name: clusterCredentialsSecret, namespace })
  const kubeconfig = secret && kubeconfigIn(secret)
  if (!kubeconfig) throw gone(`Secret ${clusterCredentialsSecret} with the credentials of DeploymentTarget ${name}`)
  const { kubeFromSecret, readTarget: read } = await import('../../adapters/kube/index.ts')
  const wanted = { server: apiURL, insecureSkipTLSVerify: allowInsecureSkipTLSVerify }
  const there = kubeFromSecret(kubeconfig, { ...reach, tenant: namespace, ...wanted })
  try {
    return await work(there, read(kubeconfig, wanted))
  } finally {
    await there.close()
  }
}

/** The API server says which role is missing, and not that nobody but the owner is to have it. */
function refusalOf(thrown: unknown, workspace: Workspace): unknown {
  if (!isFailure(thrown, 'forbidden')) return thrown
  return new Failure('forbidden', `only its owner sees into ${nameOf(workspace)}.`, {
    remedy: `Ask ${workspace.spec.owner ?? 'the owner'}.`,
    cause: thrown,
  })
}

const gone = (what: string): Failure =>
  new Failure('not-found', `there is no ${what}.`, { remedy: 'Look at the claim: kubectl get deploymenttargetclaims' })
