import {
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargets,
  PersistentVolumeClaims,
  type Workspace,
  WorkspaceClasses,
  type WorkspaceClassSpec,
  type WorkspaceSpec,
} from '../../../../src/api/index.ts'
import type { Controller, ControllerContext } from '../../../../src/engines/controller/index.ts'
import { targetLifecycle } from '../../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../../src/operator/deployment-target-claim/binding/index.ts'
import { workspacePools, workspaces } from '../../../../src/operator/workspace/index.ts'
import type { TestCluster } from '../../../support/control-plane.ts'
import { target } from '../../../support/targets.ts'
import { workspaceClass } from '../../../support/workspaces.ts'
import { giveCredentials, workspaceNamed } from '../fixture.ts'

/** Everybody, and who keeps the pools. */
export const poolside = (context: ControllerContext): Controller[] => [...beside(context), ...caretakers(context)]

/** Those who bind claims and look after targets. */
export const beside = (context: ControllerContext): Controller[] => [claimBinding(context), targetLifecycle(context)]

/** Those who keep the pools and give from them. */
export const caretakers = (context: ControllerContext): Controller[] => [workspaces(context), workspacePools(context)]

/** A class of the namespace's name with a pool there, and so many targets, all of them the namespace itself. */
export async function fill(
  cluster: TestCluster,
  namespace: string,
  { size, targets, url }: { size: number; targets: number; url?: string },
) {
  const { kube } = cluster
  const kubernetesCredentials = await giveCredentials(cluster, namespace, url)
  const names = Array.from({ length: targets }, (_, n) => `target-${n}`)
  await Promise.all(names.map((name) => kube.create(DeploymentTargets, target(namespace, name, { kubernetesCredentials }))))
  await kube.create(WorkspaceClasses, workspaceClass(namespace, poolOf(namespace, size)))
}

const poolOf = (namespace: string, size: number): WorkspaceClassSpec => ({
  deploymentTargetClassName: 'by-hand',
  warmPool: { size, namespaces: [namespace] },
})

const isSpare = ({ metadata }: DeploymentTargetClaim): boolean => metadata.labels?.['berth.dev/warm-pool'] !== undefined

/** What is there of pools and workspaces: claims that wait, claims with a workspace, and volumes. */
export async function census({ kube }: TestCluster, namespace: string) {
  const claims = await kube.list(DeploymentTargetClaims, { namespace })
  const volumes = await kube.list(PersistentVolumeClaims, { namespace })
  return {
    spares: claims.filter(isSpare),
    owned: claims.filter((claim) => !isSpare(claim)),
    volumes: volumes.map(({ metadata }) => metadata.name).sort(),
  }
}

/** A workspace that claims for itself. */
export function withoutClaim(namespace: string, name: string, more: WorkspaceSpec = {}): Workspace {
  const { spec, ...rest } = workspaceNamed(namespace, name, more)
  const { target: _, ...own } = spec
  return { ...rest, spec: own }
}
