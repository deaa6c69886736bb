import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isOrdinary, type Kube, listableKinds, unlessGone } from '../../adapters/kube/index.ts'
import {
  type AnyObject,
  BERTH_NAMESPACE,
  ClusterRoleBindings,
  ConfigMaps,
  groupOf,
  type KubeObject,
  Leases,
  nameOf,
  PART_OF_BERTH,
  refOf,
  Secrets,
} from '../../api/index.ts'
import { objectsIn } from '../manifests.ts'
import { readInventory } from './inventory.ts'
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
  return onceEach([...objects, ...settings])
}

/** Of several with one name the last. */
export const onceEach = <T extends KubeObject>(objects: readonly T[]): T[] => [
  ...new Map(objects.map((object) => [nameWithGroup(object), object])).values(),
]

/** A kind may be served in several versions; kinds of several groups may have one name. */
export const nameWithGroup = (object: KubeObject): string => `${groupOf(object.apiVersion)} ${nameOf(object)}`

/** Those that are in the cluster, as they are there. */
export async function presentOf(kube: Kube, objects: readonly KubeObject[]): Promise<KubeObject[]> {
  const looks = objects.map(async (object) => {
    const kind = await kube.resolve(object.apiVersion, object.kind)
    const found = kind && (await kube.get(kind, refOf(object)))
    return found ? [found] : []
  })
  return (await Promise.all(looks)).flat()
}

/** Secrets, settings and Leases that the programs make in their namespace, and what people make there for them. */
const OF_PROGRAMS = /^(?:Secret|ConfigMap|Lease) [^/]+\/(?:berth|kas)-/

/** What is in the namespace of the programs and is neither theirs nor Kubernetes' own, by its names. */
export async function foreignObjectsIn(kube: Kube, home: string, namespace: string): Promise<string[]> {
  const shipped = new Set(shippedObjects(home, namespace, []).map(nameOf))
  const listed = new Set((await readInventory(kube, namespace)).map(nameOf))
  const isOurs = (object: KubeObject) =>
    shipped.has(nameOf(object)) || OF_PROGRAMS.test(nameOf(object)) || (listed.has(nameOf(object)) && isLabelled(object))
  const found: string[] = []
  for (const kind of await listableKinds(kube)) {
    await unlessGone(async () => {
      const objects = await kube.list<KubeObject>(kind, { namespace, metadataOnly: true })
      found.push(...objects.filter((object) => !isOrdinary(object) && !isOurs(object)).map(nameOf))
    })
  }
  return found
}

/** Of those that the programs make, what is still there. */
export async function madeByPrograms(kube: Kube, namespace: string): Promise<KubeObject[]> {
  const lists = [kube.list(Secrets, { namespace }), kube.list(ConfigMaps, { namespace }), kube.list(Leases, { namespace })]
  return (await Promise.all<KubeObject[]>(lists)).flat().filter((object) => OF_PROGRAMS.test(nameOf(object)))
}

/** The first of them. */
export const sayNames = (names: readonly string[]): string =>
  names.length > SHOWN ? `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more` : names.join(', ')

const SHOWN = 5

/** Everything that is installed has these labels. */
export const isLabelled = ({ metadata }: KubeObject): boolean =>
  Object.entries(PART_OF_BERTH).every(([name, value]) => metadata.labels?.[name] === value)

/** Nothing where its kind, and so the object, is gone. Throws `conflict` where another has its name by now. */
export async function removeObject(kube: Kube, object: KubeObject, propagation: 'Background' | 'Foreground'): Promise<void> {
  const kind = await kube.resolve(object.apiVersion, object.kind)
  if (kind) await kube.delete(kind, refOf(object), { propagation, uid: object.metadata.uid })
}
