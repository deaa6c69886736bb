import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Kube } from '../../adapters/kube/index.ts'
import { type AnyObject, BERTH_NAMESPACE, ClusterRoleBindings, type KubeObject, nameOf, refOf } from '../../api/index.ts'
import { objectsIn } from '../manifests.ts'
import { SETTINGS } from './overlay.ts'

/** Where Berth is installed in a cluster, as the binding of kas' account says it; nothing where it is not. */
export async function namespaceOfBerth(kube: Kube): Promise<string | undefined> {
  const binding = await kube.get(ClusterRoleBindings, { name: 'berth-kas' })
  return binding?.subjects?.[0]?.namespace
}

/** Everything that some values install, each once; without the folders whose names begin with one of `without`. */
export function shippedObjects(home: string, namespace: string, without: readonly string[]): AnyObject[] {
  const files = ['crds', 'deploy'].flatMap((folder) =>
    readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  const objects = files
    .filter((file) => file.endsWith('.yaml') && !file.endsWith('kustomization.yaml'))
    .filter((file) => !without.some((folder) => file.startsWith(folder)))
    .flatMap((file) => objectsIn(readFileSync(join(home, file), 'utf8').replaceAll(BERTH_NAMESPACE, namespace), file))
  const settings = SETTINGS.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } }))
  return [...new Map([...objects, ...settings].map((object) => [nameOf(object), object])).values()]
}

/** Those that are in the cluster, as they are there. */
export async function presentOf(kube: Kube, objects: readonly AnyObject[]): Promise<KubeObject[]> {
  const looks = objects.map(async (object) => {
    const kind = await kube.resolve(object.apiVersion, object.kind)
    const found = kind && (await kube.get(kind, refOf(object)))
    return found ? [found] : []
  })
  return (await Promise.all(looks)).flat()
}
