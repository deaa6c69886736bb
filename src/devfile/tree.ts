import type { YamlEntry, YamlList, YamlMap, YamlSpot, YamlTree } from '../std/index.ts'

export type { YamlEntry, YamlList, YamlMap, YamlScalar, YamlSpot, YamlTree } from '../std/index.ts'

/** `~` and nothing at all say the same: the field is not there. */
export const isThere = (tree: YamlTree | undefined): tree is YamlTree =>
  tree !== undefined && !(tree.kind === 'scalar' && tree.value === null)

/** The value under a key, and under a key of that; `undefined` where there is nothing. */
export function at(tree: YamlTree | undefined, key: string, next?: string): YamlTree | undefined {
  const here = tree?.kind === 'map' ? tree.entries.get(key)?.value : undefined
  if (next !== undefined) return at(here, next)
  return isThere(here) ? here : undefined
}

export const itemsOf = (tree: YamlTree | undefined): readonly YamlTree[] => (tree?.kind === 'list' ? tree.items : [])

export const entriesOf = (tree: YamlTree | undefined): ReadonlyMap<string, YamlEntry> =>
  tree?.kind === 'map' ? tree.entries : new Map()

/** A text; a number counts as what was written. */
export function textOf(tree: YamlTree | undefined): string | undefined {
  if (tree?.kind !== 'scalar') return undefined
  if (typeof tree.value === 'string') return tree.value
  return typeof tree.value === 'number' ? tree.source : undefined
}

export const flagOf = (tree: YamlTree | undefined): boolean | undefined =>
  tree?.kind === 'scalar' && typeof tree.value === 'boolean' ? tree.value : undefined

export const numberOf = (tree: YamlTree | undefined): number | undefined =>
  tree?.kind === 'scalar' && typeof tree.value === 'number' ? tree.value : undefined

export const listAt = ({ file, line, column }: YamlSpot, items: YamlTree[]): YamlList => ({
  kind: 'list',
  file,
  line,
  column,
  items,
})

export const mapAt = ({ file, line, column }: YamlSpot, entries: YamlMap['entries']): YamlMap => ({
  kind: 'map',
  file,
  line,
  column,
  entries,
})

/** The part to which keys lead, as far as it is there; elements of a list are found by name, id or number. */
export function partAt(tree: YamlTree, way: readonly string[]): YamlTree {
  const [key, ...rest] = way
  if (key === undefined) return tree
  const isMeant = (item: YamlTree, n: number) => [textOf(at(item, 'name')), textOf(at(item, 'id')), String(n)].includes(key)
  const next = tree.kind === 'list' ? tree.items.find(isMeant) : at(tree, key)
  return next ? partAt(next, rest) : tree
}

/** The same as plain data. `__proto__` is a key like any other. */
export function dataOf(tree: YamlTree): unknown {
  if (tree.kind === 'scalar') return tree.value
  if (tree.kind === 'list') return tree.items.map(dataOf)
  return Object.fromEntries([...tree.entries].map(([key, { value }]) => [key, dataOf(value)]))
}

/** `components[0].name` */
export const joined = (path: string, name: string): string => (path ? `${path}.${name}` : name)

/** Visits each value with its path. */
export function walkTree(tree: YamlTree, path: string, visit: (tree: YamlTree, path: string) => void): void {
  visit(tree, path)
  if (tree.kind === 'list') for (const [i, item] of tree.items.entries()) walkTree(item, `${path}[${i}]`, visit)
  if (tree.kind === 'map') for (const [key, { value }] of tree.entries) walkTree(value, joined(path, key), visit)
}
