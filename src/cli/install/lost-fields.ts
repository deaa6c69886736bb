import { isDeepStrictEqual } from 'node:util'
import type { Kube } from '../../adapters/kube/index.ts'
import {
  type AnyObject,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  type FieldSchema,
  type Kind,
  type KubeObject,
  nameOf,
} from '../../api/index.ts'
import { isRecord } from '../../std/index.ts'
import { isDefinition, kindOf } from '../manifests.ts'

/** What objects in the cluster say, and a version of our kinds does not know: the API server drops it when they are next written. */
export interface LostField {
  /** Such as `spec.ports[].path`; `*` is any key of a map. */
  field: string
  /** The objects that have it. */
  objects: string[]
}

/** A field that goes: the steps to it, and what its kind says of it. */
interface LostPath {
  steps: readonly string[]
  schema: FieldSchema
}

/** What objects would lose by the kinds of an installation. Nothing, unless those in the cluster are newer. */
export async function findLostFields(kube: Kube, installation: readonly KubeObject[]): Promise<LostField[]> {
  const lost: LostField[] = []
  for (const definition of installation.filter(isDefinition)) {
    const there = await kube.get(CustomResourceDefinitions, { name: definition.metadata.name })
    const paths = there ? lostBetween(schemaOf(there), schemaOf(definition)) : []
    if (there && paths.length > 0) lost.push(...(await havingThem(kube, kindOf(there), paths)))
  }
  return lost
}

/** In pages: of some kinds there are tens of thousands. */
async function havingThem(kube: Kube, kind: Kind<AnyObject>, paths: readonly LostPath[]): Promise<LostField[]> {
  const having = new Map<LostPath, string[]>(paths.map((path) => [path, []]))
  for await (const page of kube.pages(kind)) {
    for (const [path, objects] of having) objects.push(...page.filter((object) => says(object, path.steps, path)).map(nameOf))
  }
  const all = [...having].map(([{ steps }, objects]) => ({ field: steps.join('.').replaceAll(`.${ITEM}`, ITEM), objects }))
  return all.filter(({ objects }) => objects.length > 0)
}

const ITEM = '[]'
const ANY_KEY = '*'

/** The fields that one schema has and the other drops, the outermost of each. A status is left out: nobody has asked for what it says. */
export function lostBetween(before: FieldSchema, after: FieldSchema): LostPath[] {
  return lostIn(before, after).filter(({ steps: [first] }) => first !== 'status')
}

/** As the API server prunes: what keeps unknown fields still drops what it does not know within those that it knows. */
function lostIn(before: FieldSchema, after: FieldSchema): LostPath[] {
  const keepsUnknown = after['x-kubernetes-preserve-unknown-fields'] === true
  const inside = (step: string, one: FieldSchema | boolean | undefined, other: FieldSchema | boolean | undefined): LostPath[] => {
    if (!isRecord(one)) return []
    if (isRecord(other)) return lostIn(one, other).map(({ steps, schema }) => ({ steps: [step, ...steps], schema }))
    return keepsUnknown || other === true ? [] : [{ steps: [step], schema: one }]
  }
  const others = after.additionalProperties
  return [
    ...Object.entries(before.properties ?? {}).flatMap(([name, one]) => inside(name, one, after.properties?.[name] ?? others)),
    ...inside(ITEM, before.items, after.items),
    ...inside(ANY_KEY, before.additionalProperties, others),
  ]
}

function says(value: unknown, [step, ...rest]: readonly string[], path: LostPath): boolean {
  if (step === undefined) return value !== undefined && !isDefault(value, path.schema)
  if (step === ITEM) return Array.isArray(value) && value.some((item) => says(item, rest, path))
  if (!isRecord(value)) return false
  return step === ANY_KEY ? Object.values(value).some((each) => says(each, rest, path)) : says(value[step], rest, path)
}

/** The API server has put it there by itself, or an object that is made of such. */
const isDefault = (value: unknown, schema: FieldSchema | undefined): boolean =>
  schema !== undefined &&
  (isDeepStrictEqual(value, schema.default) ||
    (isRecord(value) && Object.entries(value).every(([name, each]) => isDefault(each, schema.properties?.[name]))))

/** As objects are kept, whatever version they are read in. */
const schemaOf = ({ spec }: CustomResourceDefinition): FieldSchema =>
  spec.versions.find(({ storage }) => storage)?.schema?.openAPIV3Schema ?? {}
