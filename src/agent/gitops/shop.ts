import type { Kube } from '../../adapters/kube/index.ts'
import type { ManifestProject } from '../../agentcfg/index.ts'
import { type ConfigMap, ConfigMaps } from '../../api/index.ts'
import type { Destination, Ledgers, Owner, SyncMeter, Wants } from '../../engines/gitops/index.ts'
import { type Backoff, type Clock, isFailure, type Log } from '../../std/index.ts'
import type { Board } from '../ports.ts'
import { AGENT_LABEL, type AgentInventory, agentInventory, DELETION, HOME, INVENTORY_ID, OWNER, PROJECT } from './inventory.ts'
import { OWNING } from './policy.ts'
import type { Renderers } from './render.ts'
import type { Means } from './source.ts'

/** What the workers of one agent share. */
export interface Shop {
  kube: Kube
  clock: Clock
  log: Log
  agentId: bigint
  /** The namespace of the agent's pods. */
  home: string
  board: Board
  means: Means
  renderers: Renderers
  meter: SyncMeter
  /** Between tries of what failed. */
  backoff: Backoff
}

/** What they share for one term of leadership. */
export interface Term extends Shop {
  ledgers: Ledgers
  wants: Wants
}

/** Of one project in this cluster; agentk's name for it. */
export const inventoryIdOf = (agentId: bigint, projectId: bigint): string => `${agentId}-${projectId}`

/** An agent syncs a project once, whatever its inventory: a repository that names that of another one gets none of its objects. */
export const ownerIdOf = (agentId: bigint, projectId: bigint): string => `agent-${agentId}-${projectId}`

export const ownerFrom = (
  id: string,
  { inventoryId, agentId, project }: { inventoryId: string; agentId: bigint; project: string },
): Owner => ({
  id,
  title: `agent ${agentId}, project ${project}`,
  annotations: { [OWNING]: inventoryId },
})

export const inventoryFor = (
  { kube, agentId, home }: Pick<Shop, 'kube' | 'agentId' | 'home'>,
  { id, deletion, owner, inventoryId, namespace, name = `inventory-${inventoryId}` }: Whose,
): AgentInventory => agentInventory({ kube, ref: { name, namespace }, inventoryId, agentId, home, project: id, deletion, owner })

interface Whose {
  /** Path of the project. */
  id: string
  deletion: string
  owner: string
  inventoryId: string
  namespace: string
  /** Of the ConfigMap; agentk's without it. */
  name?: string | undefined
}

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

/** An inventory of this agent as it lies in the cluster. */
export interface Found {
  project: string
  inventoryId: string
  namespace: string
  owner: string
  deletion: string
  map: ConfigMap
}

/** All inventories of this agent, in the namespaces that may be looked at. */
export async function inventoriesIn(
  { kube, agentId, home }: Pick<Shop, 'kube' | 'agentId' | 'home'>,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<Found[]> {
  const labels = `${AGENT_LABEL}=${agentId}`
  const list = async (namespace?: string) => {
    try {
      return await kube.list(ConfigMaps, { labels, ...(namespace !== undefined && { namespace }) }, signal)
    } catch (failure) {
      if (isFailure(failure, 'forbidden')) return []
      throw failure
    }
  }
  const maps = namespaces.length === 0 ? await list() : (await Promise.all(namespaces.map(list))).flat()
  return maps.flatMap((map) => {
    const project = map.metadata.annotations?.[PROJECT]
    const inventoryId = map.metadata.labels?.[INVENTORY_ID]
    const { namespace, annotations: { [OWNER]: owner, [HOME]: of, [DELETION]: deletion = 'orphan' } = {} } = map.metadata
    return project && inventoryId && namespace && owner && of === home
      ? [{ project, inventoryId, namespace, owner, deletion, map }]
      : []
  })
}
