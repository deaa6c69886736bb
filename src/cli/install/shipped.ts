import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Kube } from '../../adapters/kube/index.ts'
import { type AnyObject, BERTH_NAMESPACE, ClusterRoleBindings, type KubeObject, nameOf, refOf } from '../../api/index.ts'
import { objectsIn } from '../manifests.ts'
import { SETTINGS_MAPS } from './overlay.ts'

/** Where Berth is installed in a cluster, as the binding of kas' account says it; nothing where it is not. */
export async function namespaceOfBerth(kube: Kube): Promise<string | undefined> {
  const binding = await kube.get(ClusterRoleBindings, { name: 'berth-kas' })
  return binding?.subjects?.[0]?.namespace
}

/**
 * The files of `crds` and `deploy`, by their paths from the folder of Berth, with another namespace in them: policies and settings name it within
 * texts, where no transformer of kustomize looks. Kinds stay as they are: the doctor compares them with those of this version.
 */
export const shippedFiles = (home: string, namespace: string): { file: string; text: string }[] =>
  ['crds', 'deploy'].flatMap((folder) =>
    readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => {
        const file = join(folder, name)
        const text = readFileSync(join(home, file), 'utf8')
        return { file, text: folder === 'crds' ? text : text.replaceAll(BERTH_NAMESPACE, namespace) }
      }),
  )

/** Everything that some values install, each once; without the folders whose names begin with one of `without`. */
export function shippedObjects(home: string, namespace: string, without: readonly string[]): AnyObject[] {
  const objects = shippedFiles(home, namespace)
    .filter(({ file }) => !file.endsWith('kustomization.yaml') && !without.some((folder) => file.startsWith(folder)))
    .flatMap(({ file, text }) => objectsIn(text, file))
  const settings = SETTINGS_MAPS.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } }))
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

/** Nothing where its kind, and so the object, is gone. */
export async function removeObject(kube: Kube, object: KubeObject, propagation: 'Background' | 'Foreground'): Promise<void> {
  const kind = await kube.resolve(object.apiVersion, object.kind)
  if (kind) await kube.delete(kind, refOf(object), { propagation })
}
