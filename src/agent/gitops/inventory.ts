import type { Kube } from '../../adapters/kube/index.ts'
import { annotations, type ConfigMap, ConfigMaps, type KubeObject, keyOf, type Ref, typeMetaOf } from '../../api/index.ts'
import { keyOfId, sayId } from '../../engines/apply/index.ts'
import { type Held, INVENTORY_LABEL, type InventoryStore, inventoryInConfigMaps } from '../../engines/gitops/index.ts'
import { Failure, isFailure } from '../../std/index.ts'
import { idOfInventoryKey, inventoryKeyOf } from './inventory-key.ts'

/** By it agentk finds its inventories. */
export const INVENTORY_ID = 'cli-utils.sigs.k8s.io/inventory-id'
/** Whose inventory it is, for people: whoever may write ConfigMaps there can write anything, so nothing follows from it. */
const AGENT_LABEL = 'agent.berth.dev/agent'
const PROJECT = 'agent.berth.dev/project'
const MANAGER = 'berth-agent'

/** A ConfigMap may hold 1 MiB; what has no place in it stands in our own inventory alone. Bytes of keys. */
const MOST = 900 * 1024

interface InventoryOwner {
  kube: Kube
  /** Of agentk's ConfigMap. Ours beside it have `-berth` at the end of their names. */
  ref: Ref & { namespace: string }
  /** `<agent id>-<project id>` */
  inventoryId: string
  agentId: bigint
  /** Path of the project. */
  project: string
}

export interface AgentInventory extends InventoryStore {
  /** Objects that somebody else wrote into agentk's inventory: nothing more is known of them. */
  foreign(): Promise<readonly Held[]>
  /** Reads again, the next time, what others may have written. */
  expire(): void
  /** Says whether somebody has confirmed that this commit deletes, by an annotation on the ConfigMap. */
  isConfirmed(commitId: string): boolean
  /** Takes over what another inventory of this project names, and deletes that one. */
  inherit(from: AgentInventory): Promise<void>
  /** Deletes the ConfigMaps. */
  remove(): Promise<void>
  /**
   * Leaves agentk's ConfigMap alone, and deletes the others. Those stay, too, while they name an object that agentk's does not; the answer
   * is a sentence about each.
   */
  leaveToAgentk(): Promise<string[]>
}

/**
 * An inventory in two places. What is known of each object stands in the sharded ConfigMaps of the engine; which objects there
 * are stands once more in the ConfigMap of agentk, as agentk writes it, so that either can take over from the other. An object
 * that only one of them names counts.
 */
export function agentInventory(owner: InventoryOwner): AgentInventory {
  const { kube, ref } = owner
  const maps = new Map<string, ConfigMap>()
  const detailRef = { ...ref, name: `${ref.name}-berth` }
  const detail = inventoryInConfigMaps({
    cache: { get: (of) => maps.get(keyOf(of)) },
    kube: noting(kube, maps),
    ref: detailRef,
    manager: MANAGER,
  })
  let loaded: { index: ConfigMap | undefined; foreign: readonly Held[] } | undefined

  const refresh = async () => {
    maps.clear()
    const index = await kube.get(ConfigMaps, ref)
    if (index && !isInventory(index, owner)) throw taken(owner)
    await readShards(kube, detailRef, maps)
    const known = new Set((await detail.load())?.held.map(({ key }) => key))
    const ids = Object.keys(index?.data ?? {}).flatMap((key) => idOfInventoryKey(key) ?? [])
    const strange = ids.filter((id) => !known.has(keyOfId(id)))
    return { index, foreign: await heldFrom(strange, kube) }
  }
  const current = async () => {
    loaded ??= await refresh()
    return loaded
  }
  const inventory: AgentInventory = {
    foreign: async () => (await current()).foreign,
    async inherit(from) {
      const before = (await inventory.load())?.held ?? []
      const known = new Set(before.map(({ key }) => key))
      const inherited = ((await from.load())?.held ?? []).filter(({ key }) => !known.has(key))
      if (inherited.length > 0) await inventory.save({ server: '', held: [...before, ...inherited] })
      await from.remove()
    },
    expire() {
      loaded = undefined
    },
    isConfirmed(commitId) {
      const word = loaded?.index?.metadata.annotations?.[annotations.confirmPrune]?.trim() ?? ''
      return word.length >= 7 && commitId.startsWith(word)
    },
    async load() {
      const { index, foreign } = await current()
      const own = await detail.load()
      if (!own && !index) return
      const names = new Set(own?.held.map(({ key }) => key))
      const others = foreign.filter(({ key }) => !names.has(key))
      // The inventory lies where the objects are: by whatever URL the server is reached, it is the same one.
      return { server: '', held: others.length > 0 ? [...(own?.held ?? []), ...others] : (own?.held ?? []) }
    },
    async save({ held }) {
      const { index } = await current()
      try {
        await detail.save({ server: '', held })
        const written = await writeIndex(owner, index, held)
        // Whoever saves has loaded before: what he left out is gone.
        loaded = { index: written, foreign: [] }
      } catch (failure) {
        if (isFailure(failure, 'conflict', 'already-exists', 'not-found')) loaded = undefined
        throw failure
      }
    },
    async leaveToAgentk() {
      const { index } = await current()
      return removeUnlessMissed(owner, { index, own: (await detail.load())?.held, details: [...maps.values()] })
    },
    async remove() {
      await readShards(kube, detailRef, maps)
      await removeMaps(owner, [...maps.values()])
      maps.clear()
      loaded = undefined
    },
  }
  return inventory
}

/** The first one last: while it is there, the rest is found again. What is no inventory stays. */
async function removeDetails({ kube, ref }: InventoryOwner, details: readonly ConfigMap[]): Promise<void> {
  const shards = details.filter(({ metadata }) => metadata.labels?.[INVENTORY_LABEL] !== undefined)
  for (const { metadata } of shards.reverse()) await kube.delete(ConfigMaps, { name: metadata.name, namespace: ref.namespace })
}

/** Deletes nothing while objects stand nowhere else, and says which. */
async function removeUnlessMissed(
  owner: InventoryOwner,
  { index, own = [], details }: { index: ConfigMap | undefined; own: readonly Held[] | undefined; details: ConfigMap[] },
): Promise<string[]> {
  const missed = own.filter(({ id }) => index?.data?.[inventoryKeyOf(id) ?? ''] === undefined)
  if (missed.length === 0) await removeDetails(owner, details)
  return missed.map(({ id }) => `${sayId(id)}: agentk's inventory cannot name it`)
}

async function removeMaps(owner: InventoryOwner, details: readonly ConfigMap[]): Promise<void> {
  const { kube, ref } = owner
  await removeDetails(owner, details)
  const index = await kube.get(ConfigMaps, ref)
  if (index && isInventory(index, owner)) await kube.delete(ConfigMaps, ref, { uid: index.metadata.uid })
}

/** A repository may name the ConfigMap: one that is there and something else is not written to, and not deleted. */
const isInventory = ({ metadata }: ConfigMap, { inventoryId }: InventoryOwner): boolean =>
  metadata.labels?.[INVENTORY_ID] === inventoryId

const taken = ({ ref, inventoryId }: InventoryOwner): Failure =>
  new Failure('invalid', `ConfigMap ${keyOf(ref)} is there already, and is not inventory ${inventoryId}`, {
    reason: 'InventoryTaken',
    remedy: `Remove it; or label it ${INVENTORY_ID}=${inventoryId} if it is.`,
  })

/** The first shard says how many there are. */
async function readShards(kube: Kube, ref: Ref, maps: Map<string, ConfigMap>): Promise<void> {
  const head = await kube.get(ConfigMaps, ref)
  if (!head) return
  maps.set(keyOf(ref), head)
  const shards = Math.min(Number(head.data?.shards ?? 1) || 1, 256)
  for (let at = 1; at < shards; at++) {
    const one = { ...ref, name: `${ref.name}-${at}` }
    const map = await kube.get(ConfigMaps, one)
    if (map) maps.set(keyOf(one), map)
  }
}

/** The same, with what was written remembered: nobody else writes these. */
const noting = (kube: Kube, maps: Map<string, ConfigMap>): Kube => {
  const noted = <T extends KubeObject>(object: T): T => {
    if (isConfigMap(object)) maps.set(keyOf({ name: object.metadata.name, namespace: object.metadata.namespace }), object)
    return object
  }
  return {
    ...kube,
    create: async (kind, object, how) => noted(await kube.create(kind, object, how)),
    patch: async (kind, ref, patch, how) => noted(await kube.patch(kind, ref, patch, how)),
  }
}

const isConfigMap = (object: KubeObject): object is ConfigMap => object.kind === 'ConfigMap'

/** In which version they were written nobody recorded: in the one that the server prefers. Each group is asked for once. */
async function heldFrom(ids: readonly Held['id'][], kube: Kube): Promise<Held[]> {
  const versions = new Map([['', 'v1']])
  for (const { group } of ids) if (!versions.has(group)) versions.set(group, await preferredVersion(kube, group))
  return ids.map((id) => ({ id, key: keyOfId(id), version: versions.get(id.group) ?? 'v1' }))
}

async function preferredVersion(kube: Kube, name: string): Promise<string> {
  try {
    const group = await kube.read<{ preferredVersion?: { version?: string } }>(`/apis/${name}`)
    return group.preferredVersion?.version ?? 'v1'
  } catch (failure) {
    // The kind is gone, and so is everything of it.
    if (isFailure(failure, 'not-found')) return 'v1'
    throw failure
  }
}

async function writeIndex(owner: InventoryOwner, index: ConfigMap | undefined, held: readonly Held[]): Promise<ConfigMap> {
  const { kube, ref } = owner
  const keys = keysThatFit(held)
  const metadata = {
    labels: { [INVENTORY_ID]: owner.inventoryId, [AGENT_LABEL]: String(owner.agentId) },
    annotations: { [PROJECT]: owner.project },
  }
  if (!index) {
    const data = Object.fromEntries([...keys].map((key) => [key, '']))
    return kube.create(ConfigMaps, { ...typeMetaOf(ConfigMaps), metadata: { ...ref, ...metadata }, data }, { manager: MANAGER })
  }
  const before = index.data ?? {}
  const added = [...keys].filter((key) => !(key in before)).map((key) => [key, ''] as const)
  const gone = Object.keys(before)
    .filter((key) => !keys.has(key) && idOfInventoryKey(key))
    .map((key) => [key, null] as const)
  const { resourceVersion, labels, annotations: given } = index.metadata
  const isDescribed = hasAll(labels, metadata.labels) && hasAll(given, metadata.annotations)
  if (added.length + gone.length === 0 && isDescribed) return index
  const patch = { metadata: { ...metadata, resourceVersion }, data: Object.fromEntries([...added, ...gone]) }
  return kube.patch(ConfigMaps, ref, patch, { manager: MANAGER })
}

function keysThatFit(held: readonly Held[]): Set<string> {
  const keys = new Set<string>()
  let bytes = 0
  for (const { id } of held) {
    const key = inventoryKeyOf(id)
    if (key === undefined || bytes + key.length > MOST) continue
    bytes += key.length + 8
    keys.add(key)
  }
  return keys
}

const hasAll = (has: Record<string, string> | undefined, wanted: Record<string, string>): boolean =>
  Object.entries(wanted).every(([key, value]) => has?.[key] === value)
