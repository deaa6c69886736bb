import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Kube } from '../adapters/kube/index.ts'
import { type AnyObject, apiVersionOf, type CustomResourceDefinition, type Kind, type KubeObject } from '../api/index.ts'
import { Failure, isRecord } from '../std/index.ts'

/** The Kubernetes objects that the text of one YAML file holds. */
export function objectsIn(text: string, file: string): AnyObject[] {
  const documents = parseAllDocuments(text)
  if (!Array.isArray(documents)) return []
  return documents.flatMap((document) => {
    const [error] = document.errors
    if (error) throw new Failure('invalid', `${file} is not YAML: ${error.message}`, { cause: error })
    const value: unknown = document.toJS()
    if (value === null) return []
    if (isObject(value)) return [value]
    throw new Failure(
      'invalid',
      `${file} holds something that is no Kubernetes object (apiVersion, kind and metadata.name are needed).`,
    )
  })
}

const isObject = (value: unknown): value is AnyObject =>
  isRecord(value) && 'apiVersion' in value && 'kind' in value && isRecord(value.metadata) && 'name' in value.metadata

export const isDefinition = (object: KubeObject): object is CustomResourceDefinition => object.kind === 'CustomResourceDefinition'

/** The CustomResourceDefinitions of this installation, with the text of their files. */
export function definitionsIn(home: string): { text: string; definition: CustomResourceDefinition }[] {
  const folder = join(home, 'crds')
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
  return files.toSorted().flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8')
    return objectsIn(text, file).flatMap((definition: KubeObject) =>
      isDefinition(definition) ? [{ text: text.trim(), definition }] : [],
    )
  })
}

/** Our kinds, in their first versions. */
export const ownKinds = (home: string): Kind<AnyObject>[] => definitionsIn(home).map(({ definition }) => kindOf(definition))

/** What a definition has the API server serve, in its first version. */
export const kindOf = ({ spec }: CustomResourceDefinition): Kind<AnyObject> => ({
  group: spec.group,
  version: spec.versions[0]?.name ?? 'v1alpha1',
  kind: spec.names.kind,
  plural: spec.names.plural,
  namespaced: spec.scope === 'Namespaced',
})

/** All objects of a kind, or those of one namespace; none where the cluster does not serve it. */
export const listServed = async (kube: Kube, kind: Kind<AnyObject>, namespace?: string): Promise<AnyObject[]> =>
  (await kube.resolve(apiVersionOf(kind), kind.kind)) ? kube.list(kind, { namespace }) : []

/** The objects of each kind of ours that the cluster serves, or those of one namespace. */
export async function listOwnObjects(kube: Kube, home: string, namespace?: string): Promise<Map<string, AnyObject[]>> {
  const kinds = ownKinds(home).filter(({ namespaced }) => namespaced || namespace === undefined)
  const entries = kinds.map(async (kind): Promise<[string, AnyObject[]]> => [kind.kind, await listServed(kube, kind, namespace)])
  return new Map(await Promise.all(entries))
}
