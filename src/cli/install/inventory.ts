import { stringify } from 'yaml'
import type { Kube } from '../../adapters/kube/index.ts'
import {
  type AnyObject,
  BERTH_NAMESPACE,
  type ConfigMap,
  ConfigMaps,
  type KubeObject,
  nameOf,
  PART_OF_BERTH,
} from '../../api/index.ts'
import { beginningOf, Failure } from '../../std/index.ts'

export const INVENTORY = 'berth-inventory'

/**
 * The list of what an installation consists of: the next one, of other values or of another version, takes away what it has no more, and
 * the doctor misses what somebody has taken.
 */
export function inventoryOf(objects: readonly KubeObject[], namespace = BERTH_NAMESPACE): ConfigMap {
  const lines = objects.map((object) => `${object.apiVersion} ${nameOf(object)}`)
  return {
    apiVersion: 'v1',
    kind: ConfigMaps.kind,
    metadata: { name: INVENTORY, namespace, labels: PART_OF_BERTH },
    data: { objects: lines.toSorted().join('\n') },
  }
}

/** The YAML of an installation, with its list at the end. */
export const withInventory = (text: string, inventory: ConfigMap): string =>
  `${text.trimEnd()}\n---\n${stringify(inventory).trimEnd()}`

/** What the installation in the cluster consists of; nothing where it has no list. Throws `invalid` where somebody has broken the list. */
export async function readInventory(kube: Kube, namespace: string): Promise<AnyObject[]> {
  const map = await kube.get(ConfigMaps, { name: INVENTORY, namespace })
  const lines = (map?.data?.objects ?? '').split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const [, apiVersion, kind, inNamespace, name] = LINE.exec(line) ?? []
    if (apiVersion && kind && name)
      return { apiVersion, kind, metadata: { name, ...(inNamespace && { namespace: inNamespace }) } }
    throw new Failure(
      'invalid',
      `ConfigMap ${namespace}/${INVENTORY} has a line that names no object: ${beginningOf(line, 100)}`,
      {
        remedy: 'Correct the line or delete it; `berth install --apply` writes the list anew.',
      },
    )
  })
}

/** `apps/v1 Deployment berth-system/kas` */
const LINE = /^(\S+) (\w+) (?:([^\s/]+)\/)?([^\s/]+)$/
