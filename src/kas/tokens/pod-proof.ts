import { type Kube, type Reach, reviewToken } from '../../adapters/kube/index.ts'
import {
  type DeploymentTarget,
  DeploymentTargets,
  isPrivate,
  kubeconfigIn,
  nameOf,
  userOfAccount,
  type Workspace,
  workspaceObjectName,
} from '../../api/index.ts'
import { credentialsForTarget, type TargetCredentials, withTarget } from '../../engines/targets/index.ts'
import { type Clock, Failure, type Log, remembered, type Secret } from '../../std/index.ts'
import { readSecret } from './read-secret.ts'
import { digestOf } from './token.ts'

export interface PodProofOptions {
  kube: Kube
  /** For whom the tokens of a workspace with that UID have to be issued. */
  audienceOf: (workspaceUid: string) => string
  /** The own cluster, as targets may call it. */
  own: readonly string[]
  /** Limits where other clusters may be. */
  reach: Reach
  clock: Clock
  log: Log
}

interface Claim {
  workspace: Workspace
  token: Secret<string>
}

/** Gives the name of the pod whose token it is; throws `forbidden` when it is none of this workspace's. */
export type ProvePod = (claim: Claim) => Promise<string>

/**
 * The cluster that a workspace runs in is asked whose token it is. It must be bound to a pod, so that it ends with the pod, and be
 * made for this very workspace: names of service accounts come again. An answer counts for ten seconds, a refusal is not kept.
 */
export function createPodProof(options: PodProofOptions): ProvePod {
  const keyOf = ({ workspace, token }: Claim) =>
    JSON.stringify([digestOf(token), workspace.metadata.uid, workspace.status?.target])
  return remembered((claim: Claim) => prove(options, claim), keyOf, options.clock)
}

export const notItsPod = () =>
  new Failure('forbidden', 'there is no such workspace, or the token is not one of its pods', { reason: 'NotItsPod' })

async function prove(options: PodProofOptions, { workspace, token }: Claim): Promise<string> {
  const { target } = workspace.status ?? {}
  const { uid = '' } = workspace.metadata
  if (!target?.namespace || uid === '') throw notItsPod()
  const audience = options.audienceOf(uid)
  const user = await withCluster(options, workspace, (kube) => reviewToken(kube, token, audience))
  const account = userOfAccount({ namespace: target.namespace, name: workspaceObjectName(workspace) })
  const pod = user?.extra['authentication.kubernetes.io/pod-name']?.[0]
  if (user?.name !== account || !pod) throw notItsPod()
  return pod
}

/**
 * Another cluster is asked with the credentials of its target, and believed of workspaces that run there only. Whether it may be
 * asked is its own affair: what is wrong is told in the log, and not to whoever comes with a token that nobody could check.
 */
async function withCluster<T>(options: PodProofOptions, workspace: Workspace, work: (kube: Kube) => Promise<T>): Promise<T> {
  const { target } = workspace.status ?? {}
  if (options.own.some((server) => isSameServer(server, target?.apiURL))) return work(options.kube)
  try {
    const there = await targetOf(options, workspace)
    // A private space is in this cluster, by whatever name its members call it.
    if (isPrivate(there)) return await work(options.kube)
    return await withTarget(await credentialsOf(options, there), { reach: options.reach, clock: options.clock }, work)
  } catch (thrown) {
    const failure = Failure.from(thrown)
    options.log.warn('The cluster of a workspace cannot be asked about the token of its pod', {
      workspace: nameOf(workspace),
      target: target?.name,
      error: failure,
      remedy: 'Let the credentials of its target create tokenreviews there (ClusterRole system:auth-delegator).',
    })
    if (failure.code === 'unavailable' || failure.code === 'timeout') throw failure
    throw notItsPod()
  }
}

async function targetOf({ kube }: PodProofOptions, workspace: Workspace): Promise<DeploymentTarget> {
  const { namespace } = workspace.metadata
  const { name = '', apiURL } = workspace.status?.target ?? {}
  const target = await kube.get(DeploymentTargets, { name, namespace })
  if (target && apiURL && target.spec.kubernetesCredentials.apiURL === apiURL) return target
  throw new Failure('not-found', `there is no DeploymentTarget ${name} that leads to ${apiURL}`)
}

async function credentialsOf({ kube }: PodProofOptions, target: DeploymentTarget): Promise<TargetCredentials> {
  const { clusterCredentialsSecret: name } = target.spec.kubernetesCredentials
  const secret = await readSecret(kube, { name, namespace: target.metadata.namespace })
  const kubeconfig = secret && kubeconfigIn(secret)
  if (!kubeconfig) throw new Failure('not-found', `Secret ${name} has no kubeconfig`)
  return credentialsForTarget(target, kubeconfig)
}

const isSameServer = (one: string, other: string | undefined): boolean =>
  other !== undefined && URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin
