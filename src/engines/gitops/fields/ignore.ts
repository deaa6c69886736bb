import { selectorOf } from '../../../adapters/kube/index.ts'
import { type AnyObject, groupOf } from '../../../api/index.ts'
import { isRecord } from '../../../std/index.ts'
import { partsOf } from '../../apply/index.ts'
import { wishesOf } from '../objects/annotations.ts'
import { managerOf, OWNER_LABEL } from '../objects/place.ts'
import { type FieldOwnership, managedEntriesOf, ownershipOf } from './managed-fields.ts'
import { inside, pathTree, replaced } from './path-tree.ts'

/** Fields that others may change: set when the object is made, and left alone from then on. */
export interface IgnoreRule {
  /** JSON pointers. */
  readonly paths: readonly string[]
  /** A part that is left out matches all. */
  readonly target?: {
    readonly group?: string
    readonly kind?: string
    readonly namespace?: string
    readonly name?: string
    /** In the API's own syntax: `app=web,tier in (a,b)`. */
    readonly labelSelector?: string
  }
}

/** Which fields of an object others may change. */
export interface IgnoreRules {
  /** JSON pointers, each once. */
  pathsOf(object: AnyObject): readonly string[]
}

/** Reads the rules; a selector that is none is an `invalid` failure that names its field. */
export function ignoreRules(rules: readonly IgnoreRule[]): IgnoreRules {
  const read = rules.map(({ paths, target }, index) => ({
    paths,
    isMeant: readTarget(target ?? {}, `spec.ignore[${index}].target`),
  }))
  return { pathsOf: (object) => [...new Set(read.filter(({ isMeant }) => isMeant(object)).flatMap(({ paths }) => paths))] }
}

function readTarget(target: NonNullable<IgnoreRule['target']>, field: string): (object: AnyObject) => boolean {
  const selects = selectorOf(target.labelSelector, `${field}.labelSelector`)
  const is = (wanted: string | undefined, value: string | undefined) => wanted === undefined || wanted === (value ?? '')
  return ({ apiVersion, kind, metadata }) =>
    is(target.group, groupOf(apiVersion)) &&
    is(target.kind || undefined, kind) &&
    is(target.namespace || undefined, metadata.namespace) &&
    is(target.name || undefined, metadata.name) &&
    selects(metadata.labels)
}

/** The object without the fields that others may change: so it is compared with the cluster. */
export function withoutIgnored(object: AnyObject, rules: IgnoreRules | undefined): AnyObject {
  if (!rules) return object
  const tree = pathTree(object, rules.pathsOf(object))
  return tree.size > 0 ? replaced(object, tree, undefined, NOTHING_INSTEAD) : object
}

const NOTHING_INSTEAD = { down: () => undefined, instead: () => undefined }

/**
 * The object as it is applied over the live one. A field that others may change is left out when somebody else set it, all of it, so
 * that it is theirs; otherwise the value in the cluster is sent back, for leaving it out would remove what is ours in it.
 */
export function withLiveIgnored(object: AnyObject, live: AnyObject, rules: IgnoreRules | undefined, manager: string): AnyObject {
  if (!rules) return object
  const tree = pathTree(object, rules.pathsOf(object))
  if (tree.size === 0) return object
  const others = managedEntriesOf(live).filter((entry) => entry.manager !== manager)
  const ownership = ownershipOf(others.map(({ fields }) => fields))
  return replaced(object, tree, counterpartOf(object, live, ownership), LIVE_VALUES)
}

const LIVE_VALUES = {
  down: (there: Counterpart, part: string) => there.at(part),
  instead: (value: unknown, there: Counterpart) => (isTheirs(value, there) ? undefined : there.live),
}

/** A value is theirs when all that is in it was set by one or another of them. */
function isTheirs(value: unknown, there: Counterpart): boolean {
  if (!there.ownership.isOwned) return false
  const parts = Array.isArray(value) || isRecord(value) ? Object.keys(value) : []
  return parts.every((part) => isTheirs(inside(value, part), there.at(part)))
}

/** Which fields are ours at all in the cluster: with `merge`, what others hold is no difference to mend. */
export function ourFields(object: AnyObject, live: AnyObject): (pointer: string) => boolean {
  const manager = managerOf(object.metadata.labels?.[OWNER_LABEL] ?? '')
  const ours = managedEntriesOf(live).filter((entry) => entry.manager === manager)
  const root = counterpartOf(object, live, ownershipOf(ours.map(({ fields }) => fields)))
  return (pointer) => {
    let there = root
    // A field that was set as one piece is ours with all that is in it.
    let isInPiece = false
    for (const part of partsOf(pointer)) {
      isInPiece ||= there.ownership.isAtomic()
      there = there.at(part)
    }
    return there.ownership.isOwned || isInPiece
  }
}

/** Somebody put `ignore` on the object in the cluster: it stays as it is until the annotation is taken off. */
export const isLeftAlone = (live: AnyObject): boolean => wishesOf(live).apply === 'ignore'

/** The same place in the live object, with the managers that own it. */
interface Counterpart {
  readonly live: unknown
  readonly ownership: FieldOwnership
  /** It goes one step down, by the name of a field or by the place of an element in our list. */
  at(part: string): Counterpart
}

function counterpartOf(object: unknown, live: unknown, ownership: FieldOwnership): Counterpart {
  let places: readonly number[] | undefined
  let asked: Map<string, Counterpart> | undefined
  const placeOf = (part: string) => {
    if (!Array.isArray(object)) return part
    places ??= placesOf(object, Array.isArray(live) ? live : [])
    return String(places[Number(part)] ?? part)
  }
  return {
    live,
    ownership,
    at(part) {
      asked ??= new Map()
      const before = asked.get(part)
      if (before) return before
      const place = placeOf(part)
      const below = counterpartOf(inside(object, part), inside(live, place), ownership.at(live, place))
      asked.set(part, below)
      return below
    },
  }
}

/**
 * It tells where each element of our list is in the live one, and -1 where it is not. An element is found by its name, for others may
 * have put elements before it, and the second of a name is the second there; without a name it is found by its place. No two of ours
 * are the same one there, or what is sent back could be a thousand times as large as what is in the cluster.
 */
function placesOf(ours: readonly unknown[], live: readonly unknown[]): number[] {
  const named = Map.groupBy(live.keys(), (index) => nameOf(live[index]))
  const names = ours.map(nameOf)
  const counts = new Map<string | undefined, number>()
  for (const name of names) counts.set(name, 0)
  return names.map((name, index) => {
    const other = name === undefined ? nameOf(live[index]) : undefined
    if (name === undefined) return other !== undefined && counts.has(other) ? -1 : index
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return named.get(name)?.[count] ?? -1
  })
}

const nameOf = (element: unknown): string | undefined =>
  isRecord(element) && typeof element.name === 'string' ? element.name : undefined
