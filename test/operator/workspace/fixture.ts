import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Memory } from '../../../src/adapters/kube/index.ts'
import {
  conditionOf,
  DeploymentTargetClaims,
  DeploymentTargets,
  Secrets,
  type Workspace,
  WorkspaceClasses,
  type WorkspaceClassSpec,
  type WorkspaceSpec,
  Workspaces,
} from '../../../src/api/index.ts'
import type { Controller, ControllerContext } from '../../../src/engines/controller/index.ts'
import { targetLifecycle } from '../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../src/operator/deployment-target-claim/binding/index.ts'
import { workspaces } from '../../../src/operator/workspace/index.ts'
import { createTally } from '../../../src/std/index.ts'
import type { TestCluster } from '../../support/control-plane.ts'
import { claim, kubeconfigFor, kubeconfigSecret, target } from '../../support/targets.ts'
import { expectGone, expectObject, type Patience } from '../../support/verbs.ts'
import { workspaceClass } from '../../support/workspaces.ts'

export const INLINE = 'schemaVersion: 2.2.0\ncomponents: [{ name: tools, container: { image: "example.com/tools:1" } }]'

/** Everybody who takes part in the life of a workspace whose target is there. */
export const everybody = (context: ControllerContext): Controller[] => [
  claimBinding(context),
  targetLifecycle(context),
  workspaces(context),
]

/** What a target says of the test's own API server, by its own URL or by another, and the Secret that it names. */
export async function giveCredentials(
  { kube, kubeconfig }: Pick<TestCluster, 'kube' | 'kubeconfig'>,
  namespace: string,
  url?: string,
) {
  const own = readFileSync(kubeconfig)
  const { clusters, users } = parse(own.toString())
  const apiURL: string = url ?? clusters[0].cluster.server
  const text = url === undefined ? own : Buffer.from(kubeconfigFor(url, users[0].user.token))
  await kube.create(Secrets, kubeconfigSecret(namespace, text))
  return {
    defaultNamespace: namespace,
    apiURL,
    clusterCredentialsSecret: 'credentials',
    ...(url?.startsWith('http:') && { allowInsecureSkipTLSVerify: true }),
  }
}

/** Such a target, which the claim `shared` of the namespace holds. */
export async function giveTarget(cluster: Pick<TestCluster, 'kube' | 'kubeconfig'>, namespace: string, url?: string) {
  const kubernetesCredentials = await giveCredentials(cluster, namespace, url)
  await cluster.kube.create(DeploymentTargets, target(namespace, 'here', { kubernetesCredentials }))
  await cluster.kube.create(DeploymentTargetClaims, claim(namespace, 'shared', { targetName: 'here' }))
}

/** Who vouches for the test's own API server, PEM. */
export const authorityOf = ({ kubeconfig }: Pick<TestCluster, 'kubeconfig'>): string =>
  Buffer.from(clusterIn(kubeconfig)['certificate-authority-data'], 'base64').toString()

/** The API server of the kubeconfig file. */
export const clusterIn = (kubeconfig: string): { server: string; 'certificate-authority-data': string } =>
  parse(readFileSync(kubeconfig, 'utf8')).clusters[0].cluster

/** That, and a class of the namespace's name. */
export async function prepareNamespace(cluster: TestCluster, namespace: string, spec: WorkspaceClassSpec = {}, url?: string) {
  await giveTarget(cluster, namespace, url)
  await cluster.kube.create(WorkspaceClasses, workspaceClass(namespace, spec))
}

/** In the prepared namespace, of its class, in its target. */
export const workspaceNamed = (namespace: string, name: string, spec: WorkspaceSpec = {}): Workspace => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Workspace',
  metadata: { name, namespace },
  spec: { workspaceClassName: namespace, target: { claimName: 'shared' }, devfile: { inline: INLINE }, ...spec },
})

/** What one says of a workspace of a prepared namespace. */
export const words = ({ kube }: TestCluster, namespaceNow: () => string) => {
  const at = (name: string) => ({ name, namespace: namespaceNow() })
  const expect = (name: string, is: (workspace: Workspace) => unknown, patience?: Patience) =>
    expectObject(kube, Workspaces, at(name), (workspace) => is(workspace) === true, patience)
  return {
    at,
    expect,
    create: (name: string, spec?: WorkspaceSpec) => kube.create(Workspaces, workspaceNamed(namespaceNow(), name, spec)),
    /** Until the last one is gone. */
    async deleteAll() {
      const all = await kube.list(Workspaces, { namespace: namespaceNow() })
      for (const { metadata } of all) await kube.delete(Workspaces, metadata)
      for (const { metadata } of all) await expectGone(kube, Workspaces, metadata)
    },
    set: (name: string, spec: Partial<WorkspaceSpec>) => kube.patch(Workspaces, at(name), { spec }),
    becomes: (name: string, state: string, patience?: Patience) =>
      expect(name, ({ status }) => status?.actualState === state, patience),
    reason: (name: string, wanted: string) =>
      expect(name, ({ status }) => conditionOf(status?.conditions, 'Ready')?.reason === wanted),
  }
}

/** A memory that says what each owner has of it. */
export function countedMemory(memory: Memory) {
  const held = createTally()
  const counted: Memory = {
    ...memory,
    take(owner, bytes, isNew) {
      const isTaken = memory.take(owner, bytes, isNew)
      if (isTaken) held.add(owner, bytes)
      return isTaken
    },
    giveBack(owner, bytes) {
      held.add(owner, -bytes)
      memory.giveBack(owner, bytes)
    },
  }
  return { memory: counted, held }
}
