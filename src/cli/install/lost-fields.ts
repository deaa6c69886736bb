import type { Kube } from '../../adapters/kube/index.ts'
import {
  type AnyObject,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  type FieldSchema,
  type Kind,
  nameOf,
} from '../../api/index.ts'
import { isRecord } from '../../std/index.ts'
import { definitionsIn, kindOf } from '../manifests.ts'

/** What objects in the cluster say, and a version of our kinds does not know: the API server drops it when they are next written. */
export interface LostField {
  /** Such as `spec.ports[].path`; `*` is any key of a map. */
  field: string
  /** The objects that have it. */
  objects: string[]
}

/** What would be lost with the kinds of this version, which are older than those in the cluster where there is any. */
export async function findLostFields(kube: Kube, home: string): Promise<LostField[]> {
  const perKind = definitionsIn(home).map(async ({ definition }) => {
    const there = await kube.get(CustomResourceDefinitions, { name: definition.metadata.name })
    const fields = there ? fieldsLostBetween(schemaOf(there), schemaOf(definition)) : []
    return there && fields.length > 0 ? havingFields(kube, kindOf(there), fields) : []
  })
  return (await Promise.all(perKind)).flat()
}

async function havingFields(kube: Kube, kind: Kind<AnyObject>, fields: readonly (readonly string[])[]): Promise<LostField[]> {
  const objects = await kube.list(kind)
  return fields
    .map((path) => ({
      field: path.join('.').replaceAll(`.${ITEM}`, ITEM),
      objects: objects.filter((object) => has(object, path)).map(nameOf),
    }))
    .filter((lost) => lost.objects.length > 0)
}

const ITEM = '[]'
const ANY_KEY = '*'

/**
 * The paths of the fields that one schema has and the other drops, the outermost of each. A status is written anew by the programs, and
 * is no loss.
 */
export function fieldsLostBetween(before: FieldSchema, after: FieldSchema): string[][] {
  return lostIn(before, after).filter(([first]) => first !== 'status')
}

function lostIn(before: FieldSchema, after: FieldSchema): string[][] {
  const keepsAll = after['x-kubernetes-preserve-unknown-fields'] === true
  const inside = (step: string, one: FieldSchema | boolean | undefined, other: FieldSchema | boolean | undefined) => {
    if (!isRecord(one) || keepsAll) return []
    return isRecord(other) ? lostIn(one, other).map((path) => [step, ...path]) : [[step]]
  }
  return [
    ...Object.entries(before.properties ?? {}).flatMap(([name, field]) => inside(name, field, after.properties?.[name])),
    ...inside(ITEM, before.items, after.items),
    ...inside(ANY_KEY, before.additionalProperties, after.additionalProperties),
  ]
}

function has(value: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return value !== undefined
  if (step === ITEM) return Array.isArray(value) && value.some((item) => has(item, rest))
  if (!isRecord(value)) return false
  return step === ANY_KEY ? Object.values(value).some((each) => has(each, rest)) : has(value[step], rest)
}

/** As objects are kept, whatever version they are read in. */
const schemaOf = ({ spec }: CustomResourceDefinition): FieldSchema =>
  spec.versions.find(({ storage }) => storage)?.schema?.openAPIV3Schema ?? {}
