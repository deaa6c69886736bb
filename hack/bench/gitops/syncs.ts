import { type Cache, connect, type Kube } from '../../../src/adapters/kube/index.ts'
import {
  type AnyObject,
  ClusterRoleBindings,
  type GitOpsDeployment,
  GitOpsDeployments,
  isTrue,
  type KubeObject,
  Namespaces,
} from '../../../src/api/index.ts'
import { Failure } from '../../../src/std/index.ts'
import { grant } from '../../../test/support/builders/credentials.ts'
import { inParallel } from '../stage.ts'
import type { Setup } from './setup.ts'

/** As many as one sync of the operator has under way: the floor must not win by asking more at once. */
export const AT_ONCE = 16

export const tenantOf = (namespace: string) => ({ user: `system:serviceaccount:${namespace}:default` })

/** Namespaces whose service account `default` may do what a tenant does there. */
export async function makeTenants(user: Kube, names: readonly string[]): Promise<void> {
  await inParallel(names.length, AT_ONCE, async (n) => {
    const name = names[n] ?? ''
    await user.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    await grant(user, name, 'default', 'edit')
  })
}

export async function mayDoEverything(user: Kube, namespace: string): Promise<void> {
  await user.create(ClusterRoleBindings, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `bench-${namespace}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace }],
  })
}

/** A sync of this path into its own namespace, as the service account `default` of it. */
export const syncOf = (
  { repository }: { repository: { url: string } },
  { namespace, name = 'bench', path }: { namespace: string; name?: string; path: string },
  spec: Partial<GitOpsDeployment['spec']> = {},
): GitOpsDeployment => ({
  apiVersion: 'managed-gitops.redhat.com/v1alpha1',
  kind: 'GitOpsDeployment',
  metadata: { name, namespace },
  spec: { source: { repoURL: repository.url, path }, type: 'automated', ...spec },
})

export const createSyncs = ({ user }: Setup, syncs: readonly GitOpsDeployment[]): Promise<void> =>
  inParallel(syncs.length, AT_ONCE, async (n) => {
    const sync = syncs[n]
    if (sync) await user.create(GitOpsDeployments, sync)
  })

export const isInEffect = ({ status }: GitOpsDeployment, commit: string): boolean =>
  status?.sync?.revision === commit && isTrue(status.conditions, 'Ready')

export const inEffect = (syncs: Cache<GitOpsDeployment>, commit: string): number =>
  [...syncs.all()].filter((sync) => isInEffect(sync, commit)).length

/** What the engine adds to each object, in length: the floor writes as many bytes. */
const MARK = {
  labels: { 'floor.example.com/sync': '00000000-0000-0000-0000-000000000000' },
  annotations: { 'floor.example.com/owner': 'GitOpsDeployment bench-0000/bench' },
}

export interface FloorWrite {
  object: AnyObject
  namespace: string
}

/**
 * The floor: a bare loop of server-side applies of the same objects as the same tenants, with the same client and as many
 * under way, in namespaces of its own. Milliseconds.
 */
export async function floorOf(kubeconfig: string, writes: readonly FloorWrite[]): Promise<number> {
  const kube = connect({ kubeconfig })
  const tenants = new Map<string, Kube>()
  const asTenant = (namespace: string): Kube => {
    const known = tenants.get(namespace) ?? kube.as(tenantOf(namespace))
    tenants.set(namespace, known)
    return known
  }
  try {
    const began = performance.now()
    await inParallel(writes.length, AT_ONCE, async (n) => {
      const write = writes[n]
      if (write) await applyOne(asTenant(write.namespace), write)
    })
    return performance.now() - began
  } finally {
    await kube.close()
  }
}

async function applyOne(kube: Kube, { object, namespace }: FloorWrite): Promise<void> {
  const kind = await kube.resolve(object.apiVersion, object.kind)
  if (!kind) throw new Failure('not-found', `the server serves no ${object.kind} in ${object.apiVersion}`)
  const { metadata } = object
  const home = kind.namespaced ? { namespace } : {}
  const marked: KubeObject = { ...object, metadata: { ...metadata, ...home, ...MARK } }
  await kube.apply(kind, marked, { manager: 'floor', force: true })
}
