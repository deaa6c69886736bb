import { stringify } from 'yaml'
import type { Kube } from '../../adapters/kube/index.ts'
import { type AnyObject, BERTH_NAMESPACE, type ConfigMap, ConfigMaps, nameOf, PART_OF_BERTH } from '../../api/index.ts'
import { objectsIn } from '../manifests.ts'

const NAME = 'berth-inventory'

/**
 * An installation with the list of what it consists of, as a ConfigMap: the next one, of other values or of another version, takes away
 * what it has no more, and the doctor misses what somebody has taken.
 */
export function withInventory(text: string, namespace = BERTH_NAMESPACE): string {
  const lines = objectsIn(text, 'the installation').map((object) => `${object.apiVersion} ${nameOf(object)}`)
  const map: ConfigMap = {
    apiVersion: 'v1',
    kind: ConfigMaps.kind,
    metadata: { name: NAME, namespace, labels: PART_OF_BERTH },
    data: { objects: lines.toSorted().join('\n') },
  }
  return `${text.trimEnd()}\n---\n${stringify(map)}`
}

/** What the installation in the cluster consists of; nothing where it has no list. */
export async function readInventory(kube: Kube, namespace: string): Promise<AnyObject[]> {
  const map = await kube.get(ConfigMaps, { name: NAME, namespace })
  return (map?.data?.objects ?? '').split('\n').flatMap((line) => {
    const [, apiVersion, kind, home, name] = LINE.exec(line) ?? []
    return apiVersion && kind && name ? [{ apiVersion, kind, metadata: { name, ...(home && { namespace: home }) } }] : []
  })
}

/** `apps/v1 Deployment berth-system/kas` */
const LINE = /^(\S+) (\w+) (?:([^\s/]+)\/)?([^\s/]+)$/
