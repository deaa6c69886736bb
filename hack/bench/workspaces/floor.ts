import { connect } from '../../../src/adapters/kube/index.ts'
import {
  type AnyObject,
  ConfigMaps,
  Deployments,
  type Kind,
  type KubeObject,
  labels,
  NetworkPolicies,
  PersistentVolumeClaims,
  refOf,
  Secrets,
  ServiceAccounts,
  Services,
  type Workspace,
  Workspaces,
} from '../../../src/api/index.ts'
import { inParallel } from '../stage.ts'
import { until } from '../waiting.ts'
import { AT_ONCE, makeNamespace, numbered, type Setup, SHARED, workspaceOf } from './setup.ts'

const NAMESPACE = 'floor'
const KINDS: readonly Kind<KubeObject>[] = [
  ServiceAccounts,
  PersistentVolumeClaims,
  NetworkPolicies,
  Services,
  ConfigMaps,
  Secrets,
  Deployments,
]
/** Berth's marks under another name: the operator is not to watch what only the floor has made. */
const OURS = /berth\.dev\//g
const SERVERS = ['uid', 'resourceVersion', 'creationTimestamp', 'generation', 'managedFields', 'ownerReferences', 'finalizers']

/** The same as the operator makes for one workspace, and the Workspace itself with the three statuses it cannot do without. */
export interface Floor {
  /** Milliseconds until all run. */
  create(count: number): Promise<number>
  /** Milliseconds until all are gone from their nodes. */
  stop(): Promise<number>
  /** Milliseconds until all run again. */
  start(): Promise<number>
}

/** Server-side applies by a bare loop with the same client, of what an example is made of. It is not in the operator's sight. */
export async function openFloor(setup: Setup, example: Workspace): Promise<Floor> {
  const { user, caches } = setup
  await makeNamespace(setup, NAMESPACE)
  await makeNamespace(setup, `${NAMESPACE}-home`)
  const parts = await partsOf(setup, example)
  const deployments = caches.of(Deployments, { namespace: NAMESPACE })
  await caches.ready()
  const all = () => [...deployments.all()]
  const untilAll = (ready: 0 | 1, count: number) =>
    until(
      deployments,
      () =>
        all().filter(({ status }) => (status?.replicas ?? 0) === ready && (status?.readyReplicas ?? 0) === ready).length ===
        count,
      `${count} Deployments of the floor have ${ready} pods`,
    )
  const scale = async (replicas: 0 | 1) => {
    const kube = connect({ kubeconfig: setup.kubeconfig })
    const began = performance.now()
    const names = all().map(refOf)
    await inParallel(names.length, AT_ONCE, async (n) => {
      const ref = names[n]
      if (ref) await kube.patch(Deployments, ref, { spec: { replicas } })
    })
    await untilAll(replicas, names.length)
    await kube.close()
    return performance.now() - began
  }
  return {
    async create(count) {
      const kube = connect({ kubeconfig: setup.kubeconfig })
      const began = performance.now()
      await inParallel(count, AT_ONCE, async (n) => {
        const name = numbered('floor', n)
        await user.create(Workspaces, workspaceOf(`${NAMESPACE}-home`, name, { workspaceClassName: 'nobodys' }))
        for (const { kind, text } of parts) {
          const object: AnyObject = JSON.parse(text.replaceAll(example.metadata.name, name))
          await kube.apply(kind, object, { manager: 'floor', force: true })
        }
      })
      await untilAll(1, count)
      await kube.close()
      return performance.now() - began
    },
    stop: () => scale(0),
    start: () => scale(1),
  }
}

async function partsOf({ user }: Setup, { metadata }: Workspace): Promise<{ kind: Kind<KubeObject>; text: string }[]> {
  const query = { namespace: SHARED, labels: `${labels.workspaceUid}=${metadata.uid}` }
  const found = await Promise.all(
    KINDS.map(async (kind) => (await user.list(kind, query)).map((object) => ({ kind, text: textOf(object) }))),
  )
  return found.flat()
}

/** Without what the server says of it. */
function textOf(object: KubeObject): string {
  const { metadata, ...rest } = object
  const kept = Object.fromEntries(Object.entries(metadata).filter(([key]) => !SERVERS.includes(key)))
  const wanted = { ...rest, status: undefined, metadata: { ...kept, namespace: NAMESPACE } }
  return JSON.stringify(wanted, (key, value) => (GIVEN.test(key) ? undefined : value)).replace(OURS, 'floor.example.com/')
}

/** What only one object can have. A claim that says it was bound would be lost. */
const GIVEN = /^(clusterIPs?|volumeName|deployment\.kubernetes\.io\/.*|pv\.kubernetes\.io\/.*|volume\..*)$/
