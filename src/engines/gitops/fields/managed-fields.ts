import type { AnyObject } from '../../../api/index.ts'
import { isRecord, recordIn } from '../../../std/index.ts'
import { inside } from './path-tree.ts'

/** The fields that one manager has set, as the server keeps it. https://kubernetes.io/docs/reference/using-api/server-side-apply/ */
export interface ManagedEntry {
  readonly manager: string
  readonly operation: string
  readonly apiVersion: string
  readonly subresource: string
  readonly fields: FieldTree
  /** As it came, with what we have no name for. */
  readonly raw: Record<string, unknown>
}

/** `{ 'f:spec': { 'f:replicas': {} } }`; elements of lists by key `k:{"name":"web"}`, value `v:"x"` or place `i:0`. */
export type FieldTree = Record<string, unknown>

export function managedEntriesOf({ metadata }: AnyObject): ManagedEntry[] {
  const list = 'managedFields' in metadata && Array.isArray(metadata.managedFields) ? metadata.managedFields : []
  return list.filter(isRecord).map((raw) => ({
    manager: String(raw.manager ?? ''),
    operation: String(raw.operation ?? ''),
    apiVersion: String(raw.apiVersion ?? ''),
    subresource: String(raw.subresource ?? ''),
    fields: isRecord(raw.fieldsV1) ? raw.fieldsV1 : {},
    raw,
  }))
}

/** The fields that either has. */
export function union(a: FieldTree, b: FieldTree): FieldTree {
  const both: FieldTree = { ...a }
  for (const [key, below] of Object.entries(b)) {
    const mine = both[key]
    both[key] = isRecord(mine) && isRecord(below) ? union(mine, below) : (mine ?? below)
  }
  return both
}

/** The fields at these paths, with the mappings that they are in, and all the others; `undefined` where there are none. */
export function parted(tree: FieldTree, paths: readonly string[][]): [at: FieldTree | undefined, others: FieldTree | undefined] {
  const ways = Map.groupBy(paths, ([part]) => `f:${part}`)
  const at: FieldTree = {}
  const { '.': mapping, ...others } = tree
  for (const [key, below] of Object.entries(others)) {
    const rests = ways.get(key)?.map(([, ...rest]) => rest)
    if (!rests || !isRecord(below)) continue
    const [kept, left] = rests.some((rest) => rest.length === 0) ? [below] : parted(below, rests)
    if (kept) at[key] = kept
    if (left) others[key] = left
    else delete others[key]
  }
  if (Object.keys(at).length === 0) return [undefined, tree]
  if (mapping !== undefined) at['.'] = mapping
  return [at, Object.keys(others).length > 0 ? others : undefined]
}

/** The fields that some managers own at one place of an object and below it. */
export interface FieldOwnership {
  /** One of the managers set this, or something in it. */
  readonly isOwned: boolean
  /** One of them set this itself, such as an element of a list, and not only something in it. */
  isItself(): boolean
  /** One of them set this as one piece, such as a list without keys, so nothing is known of what is in it. */
  isAtomic(): boolean
  /** The ownership one step down; `object` is the value at this place. */
  at(object: unknown, part: string): FieldOwnership
}

const UNOWNED: FieldOwnership = { isOwned: false, isItself: () => false, isAtomic: () => false, at: () => UNOWNED }

/** A field is looked up in so few trees one by one, which is faster than to sort them. */
const FEW = 4

/**
 * The ownership of all these managers together. Many trees are sorted when something in them is first asked for, and the answers
 * are remembered, so that an object costs as many steps as it has fields and managers set fields, and not the product of the two.
 */
export function ownershipOf(trees: readonly FieldTree[]): FieldOwnership {
  if (trees.length === 0) return UNOWNED
  const asked = new Map<string, FieldOwnership>()
  let sorted: SortedTrees | undefined
  let isAtomic: boolean | undefined
  const remembered = (key: string, find: () => readonly FieldTree[]): FieldOwnership => {
    const before = asked.get(key)
    if (before) return before
    const ownership = ownershipOf(find())
    if (ownership.isOwned) asked.set(key, ownership)
    return ownership
  }
  return {
    isOwned: true,
    isItself: () => trees.some((tree) => '.' in tree || Object.keys(tree).length === 0),
    isAtomic() {
      isAtomic ??= trees.some((tree) => Object.keys(tree).length === 0)
      return isAtomic
    },
    at(object, part) {
      const key = `f:${part}`
      const isList = Array.isArray(object)
      if (!isList && trees.length <= FEW) return remembered(key, () => trees.map((tree) => tree[key]).filter(isRecord))
      sorted ??= sort(trees)
      const known = isList ? keyIn(sorted, object, Number(part)) : key
      const found = known === undefined ? undefined : sorted.trees.get(known)
      return known === undefined || !found ? UNOWNED : remembered(known, () => found)
    },
  }
}

/** The trees of several managers have one key here for each field and each element of a list. */
interface SortedTrees {
  readonly trees: ReadonlyMap<string, readonly FieldTree[]>
  /** Some elements are told apart by their values. */
  readonly hasValues: boolean
  /** Other elements are told apart by fields: `name`, or `port` and `protocol`. */
  readonly choices: readonly KeyFields[]
}

interface KeyFields {
  readonly names: readonly string[]
  /** The names are written as one text here. */
  readonly text: string
}

/**
 * The schema chooses the key fields of a list, and another version of the API may choose others. A server that has more choices than
 * this is not believed, for each of them is tried on every element.
 */
const MOST_CHOICES = 8

function sort(all: readonly FieldTree[]): SortedTrees {
  const trees = new Map<string, FieldTree[]>()
  const choices = new Map<string, KeyFields>()
  let hasValues = false
  for (const tree of all)
    for (const [written, below] of Object.entries(tree)) {
      const key = written.startsWith('k:') ? keyOf(written, choices) : written
      if (key === undefined || !isRecord(below)) continue
      hasValues ||= key.startsWith('v:')
      const before = trees.get(key)
      if (before) before.push(below)
      else trees.set(key, [below])
    }
  return { trees, hasValues, choices: [...choices.values()] }
}

/** It gives `k:{"a":1,"b":2}` and `k:{"b": 2, "a": 1}` the same text, and none to what can be the key of no element. */
function keyOf(written: string, choices: Map<string, KeyFields>): string | undefined {
  const wanted = recordIn(written.slice(2))
  if (!wanted) return undefined
  const names = Object.keys(wanted).sort()
  const text = JSON.stringify(names)
  if (!choices.has(text) && choices.size === MOST_CHOICES) return undefined
  const choice = choices.get(text) ?? { names, text }
  choices.set(text, choice)
  return keyBy(choice, wanted)
}

/** An element that lacks a key field has no key. */
function keyBy({ names, text }: KeyFields, element: Record<string, unknown>): string | undefined {
  const values: unknown[] = []
  for (const name of names) {
    if (!isPlain(element[name])) return undefined
    values.push(element[name])
  }
  return `k:${text}${JSON.stringify(values)}`
}

const isPlain = (value: unknown): boolean => value === null || ['string', 'number', 'boolean'].includes(typeof value)

/** It finds the key in the trees that speaks of this element of a list. */
function keyIn({ trees, hasValues, choices }: SortedTrees, list: readonly unknown[], index: number): string | undefined {
  const byPlace = `i:${index}`
  if (trees.has(byPlace)) return byPlace
  const element = list[index]
  // The server lets only lists of plain values be sets.
  if (isPlain(element)) return hasValues ? `v:${JSON.stringify(element)}` : undefined
  if (!isRecord(element)) return undefined
  for (const choice of choices) {
    const byFields = keyBy(choice, element)
    if (byFields !== undefined && trees.has(byFields)) return byFields
  }
  return undefined
}

/**
 * How far ownership reaches on the way to a field: `whole` - this field or one in it was set. `above` - something larger was set as
 * one piece. `none` - they have nothing to do with it. `parts` is a JSON pointer into `object`, whose fields are owned.
 */
export function ownershipAt(ownership: FieldOwnership, object: unknown, parts: readonly string[]): 'whole' | 'above' | 'none' {
  const [part, ...rest] = parts
  if (part === undefined) return ownership.isOwned ? 'whole' : 'none'
  const below = ownership.isOwned ? ownershipAt(ownership.at(object, part), inside(object, part), rest) : 'none'
  return below === 'none' && ownership.isAtomic() ? 'above' : below
}
