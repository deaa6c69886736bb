import type { Kube } from '../../adapters/kube/index.ts'
import {
  type AnyObject,
  type GitOpsDeployment,
  GitOpsDeploymentManagedEnvironments,
  groupOf,
  type Kind,
  type KubeObject,
  Pods,
} from '../../api/index.ts'
import { isFailure, isRecord } from '../../std/index.ts'
import type { DeploymentContext } from './deployment.ts'
import type { Children, TreeNode } from './tree-lines.ts'

const ReplicaSets: Kind<AnyObject> = { group: 'apps', version: 'v1', kind: 'ReplicaSet', plural: 'replicasets', namespaced: true }
const Jobs: Kind<AnyObject> = { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', namespaced: true }

/** Each kind, and the kinds whose objects make objects of it. */
const MADE_BY: readonly (readonly [kind: Kind, makers: readonly string[]])[] = [
  [ReplicaSets, ['Deployment']],
  [Jobs, ['CronJob']],
  [Pods, ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'CronJob', 'Job']],
]

const NONE: Children = () => []

/** Finds the objects that those of a deployment have made, as far as they are in this cluster and the person may list them. */
export async function childrenOf({ shell, kube, deployment }: DeploymentContext): Promise<Children> {
  if (!(await isHere(deployment, kube))) return NONE
  const owned = new Map<string, AnyObject[]>()
  const refused: string[] = []
  for (const [kind, makers] of MADE_BY)
    for (const namespace of namespacesWith(makers, deployment))
      for (const object of await list(kube, kind, namespace, refused))
        for (const { kind: maker, name } of object.metadata.ownerReferences ?? []) {
          const key = keyFor(maker, namespace, name)
          owned.set(key, [...(owned.get(key) ?? []), object])
        }
  if (refused.length > 0) shell.say(`You may not list ${[...new Set(refused)].join(', ')}: they are not shown.\n`)
  const children: Children = ({ kind, namespace, name }) =>
    (owned.get(keyFor(kind, namespace, name)) ?? []).filter(isInUse).map((object) => nodeOf(object, children))
  return children
}

const keyFor = (kind: string, namespace: string, name: string): string => `${kind}/${namespace}/${name}`

/** Another cluster is beyond what this kubeconfig says. */
async function isHere({ metadata: { namespace }, spec }: GitOpsDeployment, kube: Kube): Promise<boolean> {
  const name = spec.destination?.environment
  if (!name) return true
  for (const each of [name, `managed-environment-${name}`]) {
    const environment = await kube.get(GitOpsDeploymentManagedEnvironments, { name: each, namespace })
    if (environment) return environment.spec.apiURL.replace(/\/$/, '') === kube.server.replace(/\/$/, '')
  }
  return false
}

const namespacesWith = (makers: readonly string[], { status }: GitOpsDeployment): Set<string> =>
  new Set((status?.resources ?? []).filter(({ kind }) => makers.includes(kind)).map(({ namespace = '' }) => namespace))

async function list(kube: Kube, kind: Kind, namespace: string, refused: string[]): Promise<AnyObject[]> {
  try {
    return (await kube.list(kind, { namespace })).map((object: KubeObject) => ({ ...object }))
  } catch (failure) {
    if (!isFailure(failure, 'forbidden', 'not-found')) throw failure
    refused.push(`${kind.plural} in namespace ${namespace}`)
    return []
  }
}

/** Each rollout leaves a ReplicaSet without Pods behind. */
const isInUse = ({ kind, spec, status }: AnyObject): boolean =>
  kind !== 'ReplicaSet' || numberIn(spec, 'replicas') > 0 || numberIn(status, 'replicas') > 0

function nodeOf(object: AnyObject, children: Children): TreeNode {
  const { apiVersion, kind, metadata } = object
  const id = { group: groupOf(apiVersion), kind, namespace: metadata.namespace ?? '', name: metadata.name }
  return { ...id, health: healthOf(object), drift: [], children: children(id) }
}

function healthOf({ kind, metadata, spec, status }: AnyObject): string {
  if (metadata.deletionTimestamp) return 'Terminating'
  if (kind === 'Pod') return isRecord(status) ? String(status.phase ?? 'Unknown') : 'Unknown'
  if (kind === 'Job')
    return numberIn(status, 'succeeded') > 0 ? 'Succeeded' : numberIn(status, 'failed') > 0 ? 'Failed' : 'Running'
  return `${numberIn(status, 'readyReplicas')}/${numberIn(spec, 'replicas')} ready`
}

const numberIn = (record: unknown, field: string): number =>
  isRecord(record) && typeof record[field] === 'number' ? record[field] : 0
