import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
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
import type { Controller, Workshop } from '../../../src/engines/controller/index.ts'
import { targetLifecycle } from '../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../src/operator/deployment-target-claim/binding/index.ts'
import { workspaces } from '../../../src/operator/workspace/index.ts'
import type { TestCluster } from '../../support/control-plane.ts'
import { claim, credentialsSecret, target } from '../../support/targets.ts'
import { expectObject, type Patience } from '../../support/verbs.ts'

export const INLINE = 'schemaVersion: 2.2.0\ncomponents: [{ name: tools, container: { image: "example.com/tools:1" } }]'

/** Everybody who takes part in the life of a workspace whose target is there. */
export const everybody = (workshop: Workshop): Controller[] => [
  claimBinding(workshop),
  targetLifecycle(workshop),
  workspaces(workshop),
]

/** A namespace with a target, the test's own API server, that the claim `shared` holds, and a class of the namespace's name. */
export async function furnish({ kube, kubeconfig }: TestCluster, namespace: string, spec: WorkspaceClassSpec = {}) {
  const data = { kubeconfig: readFileSync(kubeconfig).toString('base64') }
  await kube.create(Secrets, { ...credentialsSecret(namespace), data })
  const apiURL: string = parse(readFileSync(kubeconfig, 'utf8')).clusters[0].cluster.server
  const kubernetesCredentials = { defaultNamespace: namespace, apiURL, clusterCredentialsSecret: 'credentials' }
  await kube.create(DeploymentTargets, target(namespace, 'here', { kubernetesCredentials }))
  await kube.create(DeploymentTargetClaims, claim(namespace, 'shared', { targetName: 'here' }))
  await kube.create(WorkspaceClasses, classNamed(namespace, spec))
}

export const classNamed = (name: string, spec: WorkspaceClassSpec = {}) => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'WorkspaceClass',
  metadata: { name },
  spec,
})

/** In the furnished namespace, of its class, in its target. */
export const workspaceNamed = (namespace: string, name: string, spec: WorkspaceSpec = {}): Workspace => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Workspace',
  metadata: { name, namespace },
  spec: { workspaceClassName: namespace, target: { claimName: 'shared' }, devfile: { inline: INLINE }, ...spec },
})

/** What one says of a workspace of a furnished namespace. */
export const words = ({ kube }: TestCluster, namespaceNow: () => string) => {
  const at = (name: string) => ({ name, namespace: namespaceNow() })
  const expect = (name: string, is: (workspace: Workspace) => unknown, patience?: Patience) =>
    expectObject(kube, Workspaces, at(name), (workspace) => is(workspace) === true, patience)
  return {
    at,
    expect,
    create: (name: string, spec?: WorkspaceSpec) => kube.create(Workspaces, workspaceNamed(namespaceNow(), name, spec)),
    set: (name: string, spec: Partial<WorkspaceSpec>) => kube.patch(Workspaces, at(name), { spec }),
    becomes: (name: string, state: string, patience?: Patience) =>
      expect(name, ({ status }) => status?.actualState === state, patience),
    reason: (name: string, wanted: string) =>
      expect(name, ({ status }) => conditionOf(status?.conditions, 'Ready')?.reason === wanted),
  }
}
