import { matchesSelector } from '../../../adapters/kube/index.ts'
import type { AnyObject } from '../../../api/index.ts'
import { isRecord } from '../../../std/index.ts'
import { wishesOf } from '../annotations.ts'
import { groupOf } from '../object-id.ts'
import { managerOf, OWNER_LABEL } from '../place.ts'
import { claimOn, managedEntriesOf } from './managed-fields.ts'
import { partsOf, valueAt, withValueAt } from './pointer.ts'

/** Fields that others may change: set when the object is made, and left alone from then on. */
export interface IgnoreRule {
  /** JSON pointers. */
  readonly paths: readonly string[]
  /** What is left out matches all. */
  readonly target?: {
    readonly group?: string
    readonly kind?: string
    readonly namespace?: string
    readonly name?: string
    /** In the API's own syntax: `app=web,tier in (a,b)`. */
    readonly labelSelector?: string
  }
}

/** The paths of this object that others may change. */
export function ignoredPaths(object: AnyObject, rules: readonly IgnoreRule[] = []): string[] {
  return rules.filter((rule) => isMeant(object, rule)).flatMap(({ paths }) => paths)
}

function isMeant({ apiVersion, kind, metadata }: AnyObject, { target = {} }: IgnoreRule): boolean {
  const is = (wanted: string | undefined, value: string | undefined) => wanted === undefined || wanted === (value ?? '')
  return (
    is(target.group, groupOf(apiVersion)) &&
    is(target.kind || undefined, kind) &&
    is(target.namespace || undefined, metadata.namespace) &&
    is(target.name || undefined, metadata.name) &&
    matchesSelector(target.labelSelector, metadata.labels)
  )
}

/** What is compared with the cluster: the object without the fields that others may change. */
export function withoutIgnored(object: AnyObject, rules: readonly IgnoreRule[] = []): AnyObject {
  return ignoredPaths(object, rules).reduce((left, path) => withValueAt(left, partsOf(path), undefined), object)
}

/**
 * What is applied over what is there. A field that others may change is left out when somebody else set it, all of it, so
 * that it is theirs; otherwise the value in the cluster is sent back, for leaving it out would remove what is ours in it.
 */
export function concede(object: AnyObject, live: AnyObject, rules: readonly IgnoreRule[], manager: string): AnyObject {
  const others = managedEntriesOf(live).filter((entry) => entry.manager !== manager)
  let left = object
  for (const path of ignoredPaths(object, rules)) {
    const parts = partsOf(path)
    const value = valueAt(object, parts)
    if (value === undefined) continue
    const isTheirs = leavesOf(value, parts).every((leaf) => {
      const there = partsIn(live, object, leaf)
      return others.some(({ fields }) => claimOn(fields, live, there) === 'whole')
    })
    left = withValueAt(left, parts, isTheirs ? undefined : valueAt(live, partsIn(live, object, parts)))
  }
  return left
}

/** The ways to all values in it that have nothing in them. */
function leavesOf(value: unknown, parts: readonly string[]): string[][] {
  const inside = Array.isArray(value) || isRecord(value) ? Object.entries(value) : []
  return inside.length === 0 ? [[...parts]] : inside.flatMap(([name, below]) => leavesOf(below, [...parts, name]))
}

/**
 * The same place in the live object. An element of a list is found by its name, for others may have put elements before
 * it; without names by its place.
 */
function partsIn(live: unknown, object: unknown, parts: readonly string[]): string[] {
  const [part, ...rest] = parts
  if (part === undefined) return []
  if (!Array.isArray(object)) {
    const [mine, theirs] = [object, live].map((from) => (isRecord(from) ? from[part] : undefined))
    return [part, ...partsIn(theirs, mine, rest)]
  }
  const element: unknown = object[Number(part)]
  const list: unknown[] = Array.isArray(live) ? live : []
  const named = isRecord(element) && typeof element.name === 'string' ? element.name : undefined
  const index = named === undefined ? Number(part) : list.findIndex((other) => isRecord(other) && other.name === named)
  return [String(index), ...partsIn(list[index], element, rest)]
}

/** Whether the field is ours at all in the cluster: with `merge`, what others hold is no difference to mend. */
export function isOurs(object: AnyObject, pointer: string, live: AnyObject): boolean {
  const manager = managerOf(object.metadata.labels?.[OWNER_LABEL] ?? '')
  const there = partsIn(live, object, partsOf(pointer))
  return managedEntriesOf(live).some((entry) => entry.manager === manager && claimOn(entry.fields, live, there) !== 'none')
}

/** Somebody put `ignore` on the object in the cluster: it stays as it is until the mark is taken off. */
export const isLeftAlone = (live: AnyObject): boolean => wishesOf(live).apply === 'ignore'
