import type { Cache, Kube } from '../../../adapters/kube/index.ts'
import { type ConfigMap, ConfigMaps, isOwnedBy, type KubeObject, keyOf, type Ref } from '../../../api/index.ts'
import { eachOf, Failure, isRecord, recordIn } from '../../../std/index.ts'
import { keyOfId } from '../../apply/index.ts'
import { turnover } from '../objects/lists.ts'
import type { Held, Inventory, InventoryStore } from './inventory.ts'

export const INVENTORY_LABEL = 'gitops.berth.dev/inventory'
const FORMAT = '2'
/** One JSON object a line, all in one ConfigMap; read, and written in the present format at the next save. */
const FORMER = '1'

/** A ConfigMap may hold 1 MiB; what is written again for one line should be far less. Bytes. */
const SHARD = 96 * 1024
const MOST_SHARDS = 256
const AT_ONCE = 4

interface ConfigMapInventory {
  /** Holds the ConfigMaps with INVENTORY_LABEL; reading costs no request. */
  cache: Pick<Cache<ConfigMap>, 'get'>
  /** Its writes must show in the cache. */
  kube: Kube
  /** Of the first ConfigMap; further ones have a number at the end of their name. */
  ref: Ref
  /** The ConfigMaps go away with it. What another owner of the same name left is not ours and is overwritten. */
  owner?: KubeObject
  manager: string
  /** Another record of the objects, for when there is no ConfigMap any more. */
  lost?: () => Inventory | undefined
  /** From how many bytes on a ConfigMap is divided; 96 KiB without it. */
  shardBytes?: number
}

/** The ConfigMaps as they were read; each write is bound to what it replaces. */
interface Loaded {
  inventory: Inventory | undefined
  /** How many ConfigMaps count; 0 while there is none. */
  shards: number
  maps: ReadonlyMap<number, ConfigMap>
  /** We wrote them: each holds its lines and nothing else. */
  isTidy: boolean
}

const unread = (maps: Loaded['maps'] = new Map()): Loaded => ({ inventory: undefined, shards: 0, maps, isTidy: false })

/**
 * An inventory in one ConfigMap, or in as many as it needs: 2, 4, 8, … An object's shard follows from its identity, so a
 * change of one line writes one ConfigMap. Each save is bound to the version that was loaded: two programs cannot overwrite
 * each other. The number of shards never falls.
 */
export function inventoryInConfigMaps(wiring: ConfigMapInventory): InventoryStore {
  let loaded = unread()
  return {
    async load() {
      if (!isLatest(loaded, wiring)) loaded = read(wiring)
      return loaded.inventory ?? wiring.lost?.()
    },
    async save(inventory) {
      loaded = await write(wiring, loaded, inventory)
    },
  }
}

/** If the cache still shows what was read or written last, ten thousand lines need not be read again. */
function isLatest({ inventory, maps }: Loaded, { cache, ref }: ConfigMapInventory): boolean {
  if (!inventory) return false
  for (const [index, map] of maps) if (cache.get(refOfShard(ref, index)) !== map) return false
  return true
}

function read({ cache, ref, owner }: ConfigMapInventory): Loaded {
  const head = cache.get(ref)
  if (!head) {
    const second = cache.get(refOfShard(ref, 1))
    if (second && mayBeOf(second, owner)) throw damaged(ref, 'is missing')
    return unread()
  }
  const maps = new Map([[0, head]])
  if (!mayBeOf(head, owner)) return unread(maps)
  const shards = shardsIn(head)
  for (let index = 1; index < shards; index++) {
    const shard = cache.get(refOfShard(ref, index))
    if (!shard) throw damaged(refOfShard(ref, index), 'is missing')
    maps.set(index, shard)
  }
  const held = new Map<string, Held>()
  for (const [index, map] of maps) {
    // While the number of shards grows, what has moved stands in its old place too.
    for (const item of heldIn(map)) if (shardOf(item, shards) === index) held.set(item.key, item)
  }
  return { inventory: { server: head.data?.server ?? '', held: [...held.values()] }, shards, maps, isTidy: false }
}

const mayBeOf = (map: ConfigMap, owner: KubeObject | undefined): boolean =>
  !owner || (map.metadata.ownerReferences ?? []).length === 0 || isOwnedBy(map, owner)

function shardsIn({ metadata, data = {} }: ConfigMap): number {
  if (data.format === FORMER) return 1
  const shards = Number(data.shards)
  if (data.format !== FORMAT) throw damaged(metadata, `has the unknown format ${JSON.stringify(data.format ?? '')}`)
  if (!Number.isInteger(shards) || shards < 1 || shards > MOST_SHARDS)
    throw damaged(metadata, `says ${JSON.stringify(data.shards ?? '')} where the number of its shards should stand`)
  return shards
}

function heldIn({ metadata, data = {} }: ConfigMap): Held[] {
  const parse = data.format === FORMER ? heldOfJson : heldOf
  const found: Held[] = []
  for (const [number, line] of (data.objects ?? '').split('\n').entries()) {
    if (line === '') continue
    const held = parse(line)
    if (!held) throw damaged(metadata, `names no object in line ${number + 1} of its data.objects: ${line.slice(0, 100)}`)
    found.push(held)
  }
  return found
}

const damaged = (ref: Ref, what: string): Failure =>
  new Failure('invalid', `the inventory in ConfigMap ${keyOf(ref)} ${what}; nothing is applied or deleted`, {
    reason: 'InventoryDamaged',
    remedy:
      'Restore it from a backup; or delete all ConfigMaps of this inventory, and what the present commit holds is found again',
  })

/**
 * Shard by shard, those that are as they should be left out. When their number grows, the new ones are written first, then
 * the first one, which says how many count, then the others: a reader in between finds each object at least once.
 */
async function write(wiring: ConfigMapInventory, loaded: Loaded, inventory: Inventory): Promise<Loaded> {
  const bytes = wiring.shardBytes ?? SHARD
  const texts = textsAfter(loaded, inventory.held, bytes) ?? textsOf(inventory.held, Math.max(loaded.shards, 1), bytes)
  // Shards without a first one would mean that it was lost.
  const from = texts.length > 1 && loaded.shards === 0 ? await write(wiring, loaded, { ...inventory, held: [] }) : loaded
  const maps = new Map(from.maps)
  const put = async (index: number) => {
    const ref = refOfShard(wiring.ref, index)
    const isNew = index > 0 && index >= from.shards
    const head = index === 0 && { server: inventory.server, shards: String(texts.length) }
    const data = { format: FORMAT, ...head, objects: texts[index] ?? '' }
    const before = isNew ? wiring.cache.get(ref) : from.maps.get(index)
    if (before && index < from.shards && isSame(before.data ?? {}, data)) return
    maps.set(index, await save(wiring, ref, data, before))
  }
  const others = texts.map((_, index) => index).slice(1)
  const known = others.filter((index) => index < from.shards)
  await eachOf(others.slice(known.length), AT_ONCE, put)
  await put(0)
  await eachOf(known, AT_ONCE, put)
  return { inventory, shards: texts.length, maps, isTidy: true }
}

const isSame = (before: Record<string, string>, data: Record<string, string>): boolean =>
  Object.entries(data).every(([key, value]) => before[key] === value)

function save(wiring: ConfigMapInventory, ref: Ref, data: Record<string, string>, before: ConfigMap | undefined) {
  const { kube, manager, owner } = wiring
  const whole = configMapOf(ref, data, owner)
  if (!before) return kube.create(ConfigMaps, whole, { manager })
  const { labels, ownerReferences } = whole.metadata
  const metadata = { resourceVersion: before.metadata.resourceVersion, ...(owner && { labels, ownerReferences }) }
  return kube.patch(ConfigMaps, ref, { metadata, data }, { manager })
}

function configMapOf(ref: Ref, data: Record<string, string>, owner: KubeObject | undefined): ConfigMap {
  const { apiVersion, kind, metadata } = owner ?? {}
  const owners = apiVersion && kind && metadata?.uid ? [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }] : []
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: ref.name,
      ...(ref.namespace && { namespace: ref.namespace }),
      labels: { [INVENTORY_LABEL]: 'true' },
      ownerReferences: owners,
    },
    data,
  }
}

const refOfShard = (ref: Ref, index: number): Ref => (index === 0 ? ref : { ...ref, name: `${ref.name}-${index}` })

/** The texts that we wrote last, with the lines that have changed since; none if they cannot be had that way. */
function textsAfter({ inventory, shards, maps, isTidy }: Loaded, held: readonly Held[], bytes: number): string[] | undefined {
  if (!inventory || !isTidy) return undefined
  const { gone, come } = turnover(inventory.held, held)
  const texts = Array.from({ length: shards }, (_, index) => maps.get(index)?.data?.objects ?? '')
  const edited = new Map<number, Set<string>>()
  const linesFor = (item: Held): Set<string> => {
    const index = shardOf(item, shards)
    const lines = edited.get(index) ?? new Set(texts[index]?.split('\n'))
    edited.set(index, lines)
    return lines
  }
  for (const item of gone) linesFor(item).delete(lineFor(item))
  for (const item of come) linesFor(item).add(lineFor(item))
  for (const [index, lines] of edited)
    texts[index] = [...lines]
      .filter((line) => line !== '')
      .sort()
      .join('\n')
  const isTooBig = [...edited.keys()].some((index) => Buffer.byteLength(texts[index] ?? '') > bytes)
  return isTooBig ? undefined : texts
}

/** At least so many texts, and more as long as one of them is too big. */
function textsOf(held: readonly Held[], atLeast: number, bytes: number): string[] {
  const texts = divided(held, atLeast)
  const isTooBig = texts.some((text) => Buffer.byteLength(text) > bytes)
  return isTooBig && atLeast < MOST_SHARDS ? textsOf(held, atLeast * 2, bytes) : texts
}

function divided(held: readonly Held[], shards: number): string[] {
  const lines = Array.from({ length: shards }, (): string[] => [])
  for (const item of held) lines[shardOf(item, shards)]?.push(lineFor(item))
  return lines.map((some) => some.sort().join('\n'))
}

/** FNV-1a over the object's identity. Twice as many shards divide each of them into itself and one new one. */
function shardOf({ key }: Held, shards: number): number {
  if (shards === 1) return 0
  let hash = 0x81_1c_9d_c5
  for (const byte of Buffer.from(key)) hash = Math.imul(hash ^ byte, 0x01_00_01_93)
  return ((hash >>> 16) ^ hash) & (shards - 1)
}

/**
 * One object of an inventory as one line: `group/Kind/namespace/name/version/uid/hash`, each part empty where there is none.
 * No name in Kubernetes may hold `/` or `%` (`path.IsValidPathSegmentName` of apimachinery), so the rare characters that
 * would break a line are written as `%20`.
 */
export function lineFor({ id, version, uid = '', hash = '' }: Held): string {
  return [id.group, id.kind, id.namespace ?? '', id.name, version, uid, hash].map(escaped).join('/')
}

/** `undefined` for a line that names no object. */
export function heldOf(line: string): Held | undefined {
  const parts = line.split('/')
  if (parts.length !== 7) return undefined
  const [group, kind, namespace, name, version, uid, hash] = parts.map(unescaped)
  if (group === undefined || !kind || !name || !version) return undefined
  const id = { group, kind, ...(namespace && { namespace }), name }
  return { id, key: keyOfId(id), version, ...(uid && { uid }), ...(hash && { hash }) }
}

/** A line as it was written until format 2: a JSON object. */
function heldOfJson(line: string): Held | undefined {
  const held = recordIn(line)
  if (!held || !isRecord(held.id)) return undefined
  const { group, kind, namespace, name } = held.id
  const { version, uid, hash } = held
  if (typeof group !== 'string' || typeof kind !== 'string' || typeof name !== 'string' || typeof version !== 'string')
    return undefined
  const id = { group, kind, ...(typeof namespace === 'string' && { namespace }), name }
  return { id, key: keyOfId(id), version, ...(typeof uid === 'string' && { uid }), ...(typeof hash === 'string' && { hash }) }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is them that must not stand in a line
const AWKWARD = /[\u0000-\u0020\u007f%/]/g

const escaped = (part: string): string => part.replace(AWKWARD, encodeURIComponent)

function unescaped(part: string): string | undefined {
  if (!part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
