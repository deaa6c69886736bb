import type { Kube } from '../../adapters/kube/index.ts'
import type { ManifestProject } from '../../agentcfg/index.ts'
import type { Destination, Owner, SyncMemories, SyncMeter, TellSync, Wants } from '../../engines/gitops/index.ts'
import type { Backoff, Clock, Log } from '../../std/index.ts'
import type { Reports } from '../ports/reports.ts'
import { type AgentInventory, agentInventory } from './inventory.ts'
import { OWNING } from './policy.ts'
import type { InventoryPlace, Register } from './register.ts'
import type { Renderers } from './render.ts'
import type { SourceOptions } from './source.ts'

/** The workers of one agent share these. */
export interface AgentSyncServices {
  kube: Kube
  clock: Clock
  log: Log
  /** The namespace of the agent's pods. */
  home: string
  reports: Reports
  source: SourceOptions
  renderers: Renderers
  meter: SyncMeter
  tellSync: TellSync
  /** Between tries of what failed. */
  backoff: Backoff
}

/** And these for one term of leadership. */
export interface LeadershipTerm extends AgentSyncServices {
  agentId: bigint
  memories: SyncMemories
  wants: Wants
  register: Register
  /** Said by a worker that knows its number: what deletes the objects of a project with this number, by another path, ends first. */
  claim(number: bigint): Promise<void>
}

/** Of one project in this cluster; agentk's name for it. */
export const inventoryIdOf = (agentId: bigint, projectId: bigint): string => `${agentId}-${projectId}`

/** An agent syncs a project once, whatever its inventory: a repository that names that of another one gets none of its objects. */
export const ownerIdOf = (agentId: bigint, projectId: bigint): string => `agent-${agentId}-${projectId}`

export const ownerFrom = (id: string, inventoryId: string, agentId: bigint, project: string): Owner => ({
  id,
  title: `agent ${agentId}, project ${project}`,
  annotations: { [OWNING]: inventoryId },
})

export const inventoryAt = (
  { kube, agentId }: Pick<LeadershipTerm, 'kube' | 'agentId'>,
  project: string,
  { namespace, name, inventoryId }: InventoryPlace,
): AgentInventory => agentInventory({ kube, ref: { name, namespace }, inventoryId, agentId, project })

/** Says whether an inventory may lie there, as the configuration is now. */
export const isNear = ({ namespace }: { namespace: string }, { namespaces }: Pick<ManifestProject, 'namespaces'>): boolean =>
  namespaces.length === 0 || namespaces.includes(namespace)

export const destinationOf = (
  kube: Kube,
  { defaultNamespace, namespaces, allowedKinds }: Pick<ManifestProject, 'defaultNamespace' | 'namespaces' | 'allowedKinds'>,
): Destination => ({
  kube,
  namespace: defaultNamespace,
  namespaces,
  clusterResources: namespaces.length === 0,
  allowedKinds,
  // The agent has the rights that somebody gave it in its own cluster.
  podSecurityLabels: true,
  remedies: {
    allowedKinds: 'add its kind to gitops.allowed_kinds of the agent configuration',
    clusterResources: 'empty gitops.namespaces of the agent configuration, or keep it in another repository',
  },
})
