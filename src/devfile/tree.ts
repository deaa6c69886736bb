/** A text that was read, under the name by which people know it: a file, a URL, or nothing for the devfile itself. */
export interface Origin {
  readonly name: string
  readonly text: string
  /** Where each line begins. */
  readonly starts: readonly number[]
}

/** A place in a text, counted in UTF-16 units from its beginning. */
export interface Spot {
  readonly origin: Origin
  readonly at: number
}

/** What was written, with its places. Both readers make the same tree, and merging makes trees of parts of trees. */
export type Tree = Scalar | Listing | Mapping

export interface Scalar extends Spot {
  kind: 'scalar'
  value: string | number | boolean | null
  /** As written, without quotes: `1.50` and `0x10` are numbers to YAML, and what the author wrote is what they meant. */
  source: string
}

export interface Listing extends Spot {
  kind: 'list'
  items: Tree[]
}

export interface Mapping extends Spot {
  kind: 'map'
  entries: Map<string, Entry>
}

export interface Entry {
  key: Spot
  value: Tree
}

export function originOf(name: string, text: string): Origin {
  const starts = [0]
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1)
  return { name, text, starts }
}

/** Line and column, both from 1. */
export function lineOf({ origin: { starts }, at: offset }: Spot): { line: number; column: number } {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
}

/** `~` and nothing at all say the same: the field is not there. */
export const isThere = (tree: Tree | undefined): tree is Tree =>
  tree !== undefined && !(tree.kind === 'scalar' && tree.value === null)

/** What stands at a key, and at a key of that; `undefined` where there is nothing. */
export function at(tree: Tree | undefined, key: string, next?: string): Tree | undefined {
  const here = tree?.kind === 'map' ? tree.entries.get(key)?.value : undefined
  if (next !== undefined) return at(here, next)
  return isThere(here) ? here : undefined
}

export const itemsOf = (tree: Tree | undefined): readonly Tree[] => (tree?.kind === 'list' ? tree.items : [])

export const entriesOf = (tree: Tree | undefined): ReadonlyMap<string, Entry> => (tree?.kind === 'map' ? tree.entries : new Map())

/** A text; a number counts as what was written. */
export function textOf(tree: Tree | undefined): string | undefined {
  if (tree?.kind !== 'scalar') return undefined
  if (typeof tree.value === 'string') return tree.value
  return typeof tree.value === 'number' ? tree.source : undefined
}

export const flagOf = (tree: Tree | undefined): boolean | undefined =>
  tree?.kind === 'scalar' && typeof tree.value === 'boolean' ? tree.value : undefined

export const numberOf = (tree: Tree | undefined): number | undefined =>
  tree?.kind === 'scalar' && typeof tree.value === 'number' ? tree.value : undefined

/** The same as plain data. `__proto__` is a key like any other. */
export function dataOf(tree: Tree): unknown {
  if (tree.kind === 'scalar') return tree.value
  if (tree.kind === 'list') return tree.items.map(dataOf)
  return Object.fromEntries([...tree.entries].map(([key, { value }]) => [key, dataOf(value)]))
}

/** Each value with its path: `components[0].name`. */
export function walkTree(tree: Tree, path: string, visit: (tree: Tree, path: string) => void): void {
  visit(tree, path)
  if (tree.kind === 'list') for (const [i, item] of tree.items.entries()) walkTree(item, `${path}[${i}]`, visit)
  if (tree.kind === 'map') for (const [key, { value }] of tree.entries) walkTree(value, path ? `${path}.${key}` : key, visit)
}
