import type { Cache, Kube } from '../../adapters/kube/index.ts'
import { type ConfigMap, ConfigMaps, type KubeObject, type Ref } from '../../api/index.ts'
import { Failure, isRecord } from '../../std/index.ts'
import type { Held, Inventory, InventoryStore } from './inventory.ts'

export const INVENTORY_LABEL = 'gitops.berth.dev/inventory'
const FORMAT = '1'

export interface ConfigMapInventory {
  /** Holds the ConfigMaps with INVENTORY_LABEL; reading costs no request. */
  cache: Pick<Cache<ConfigMap>, 'get'>
  /** Its writes must show in the cache. */
  kube: Kube
  ref: Ref
  /** Goes away with it. */
  owner?: KubeObject
  manager: string
}

/** An inventory in a ConfigMap. Each save is bound to the version that was loaded: two programs cannot overwrite each other. */
export function inventoryInConfigMap({ cache, kube, ref, owner, manager }: ConfigMapInventory): InventoryStore {
  return {
    load: () => Promise.resolve(parseInventory(cache.get(ref))),
    async save(inventory) {
      const before = cache.get(ref)
      const data = {
        format: FORMAT,
        server: inventory.server,
        objects: inventory.held.map((held) => JSON.stringify(held)).join('\n'),
      }
      if (before) {
        const metadata = { resourceVersion: before.metadata.resourceVersion }
        await kube.patch(ConfigMaps, ref, { metadata, data }, { manager })
      } else await kube.create(ConfigMaps, configMapOf(ref, data, owner), { manager })
    },
  }
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

export function parseInventory(from: ConfigMap | undefined): Inventory | undefined {
  const { data } = from ?? {}
  if (!data) return undefined
  if (data.format !== FORMAT)
    throw new Failure('invalid', `the inventory ${from?.metadata.name} has an unknown format`, {
      reason: 'InventoryDamaged',
      remedy: 'Restore the ConfigMap.',
    })
  const lines = (data.objects ?? '').split('\n').filter((line) => line !== '')
  return { server: data.server ?? '', held: lines.map(heldOf) }
}

function heldOf(line: string): Held {
  const held: unknown = JSON.parse(line)
  if (!isRecord(held) || !isRecord(held.id)) throw damaged(line)
  const { group, kind, namespace, name } = held.id
  const { version, uid, hash } = held
  if (typeof group !== 'string' || typeof kind !== 'string' || typeof name !== 'string' || typeof version !== 'string')
    throw damaged(line)
  const id = { group, kind, ...(typeof namespace === 'string' && { namespace }), name }
  return { id, version, ...(typeof uid === 'string' && { uid }), ...(typeof hash === 'string' && { hash }) }
}

const damaged = (line: string) =>
  new Failure('invalid', `the inventory has a line that names no object: ${line.slice(0, 100)}`, {
    reason: 'InventoryDamaged',
    remedy: 'Restore the ConfigMap.',
  })
