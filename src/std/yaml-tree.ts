import { isAlias, isMap, isNode, isScalar, isSeq } from 'yaml'
import { composeYaml, type YamlLimits, type YamlPlace, type YamlProblem, type YamlSchema } from './yaml.ts'

/** A place in a text; `file` says in which one where there are several. */
export interface YamlSpot extends YamlPlace {
  file: string
}

/** A value with its place, so that who reads a file for people can say where something is wrong. */
export type YamlTree = YamlScalar | YamlList | YamlMap

export interface YamlScalar extends YamlSpot {
  kind: 'scalar'
  value: string | number | boolean | null
  /** As written, without quotes: `1.50` and `0x10` are numbers to YAML, and what the author wrote is what they meant. */
  source: string
}

export interface YamlList extends YamlSpot {
  kind: 'list'
  items: YamlTree[]
}

export interface YamlMap extends YamlSpot {
  kind: 'map'
  entries: Map<string, YamlEntry>
}

export interface YamlEntry {
  key: YamlSpot
  value: YamlTree
}

export interface YamlTreeOptions {
  /** The name of the text, for the places in it. */
  file?: string
  schema?: YamlSchema
  limits?: Partial<YamlLimits>
}

/** `tree` is missing when there is nothing but comments. */
export type YamlTreeText = { tree?: YamlTree; problem?: undefined } | { problem: YamlProblem; tree?: undefined }

/**
 * The one document of a text, read as `parseYaml` does, within the same limits. An alias is a copy of what it stands for, with
 * the places of that: who changes the one leaves the other as it is.
 */
export function parseYamlTree(text: string, { file = '', schema, limits = {} }: YamlTreeOptions = {}): YamlTreeText {
  let found: { tree?: YamlTree } = {}
  for (const { document, at, problem } of composeYaml(text, limits, schema)) {
    if (problem) return { problem }
    if (document.contents === null) continue
    const growth: Growth = { spotAt: (offset) => ({ file, ...at(offset) }), anchors: new Map() }
    const tree = grow(growth, document.contents)
    if (found.tree) {
      const { line, column } = tree
      return { problem: { line, column, message: 'There are multiple documents, and the second document is one too many' } }
    }
    if (tree.kind !== 'scalar' || tree.value !== null) found = { tree }
  }
  return found
}

interface Growth {
  spotAt: (offset: number) => YamlSpot
  /** Trees by the names of their anchors: looking an alias up must not take the time of reading the document again. */
  anchors: Map<string, YamlTree>
}

function grow(growth: Growth, node: unknown): YamlTree {
  const spot = spotOf(growth, node)
  const nothing: YamlScalar = { kind: 'scalar', ...spot, value: null, source: '' }
  if (isAlias(node)) return copied(growth.anchors.get(node.source) ?? nothing)
  const tree: YamlTree = isScalar(node)
    ? { ...nothing, value: plain(node.value), source: node.source ?? '' }
    : isSeq(node)
      ? { kind: 'list', ...spot, items: node.items.map((item) => grow(growth, item)) }
      : isMap(node)
        ? { kind: 'map', ...spot, entries: entriesOf(growth, node.items) }
        : nothing
  if (isNode(node) && node.anchor !== undefined) growth.anchors.set(node.anchor, tree)
  return tree
}

/** Entries that `<<` merges in stand behind those of the mapping itself. */
function entriesOf(growth: Growth, pairs: readonly { key: unknown; value: unknown }[]): YamlMap['entries'] {
  const entries: YamlMap['entries'] = new Map()
  const merged: YamlTree[] = []
  for (const pair of pairs) {
    const key = spotOf(growth, pair.key)
    const value: YamlTree = pair.value === null ? { kind: 'scalar', ...key, value: null, source: '' } : grow(growth, pair.value)
    // The library makes a symbol of it in the schema that merges.
    if (isScalar(pair.key) && typeof pair.key.value === 'symbol') merged.push(value)
    else entries.set(isScalar(pair.key) ? (pair.key.source ?? '') : '', { key, value })
  }
  for (const tree of merged.flatMap((one) => (one.kind === 'list' ? one.items : [one])))
    if (tree.kind === 'map') for (const [name, entry] of tree.entries) if (!entries.has(name)) entries.set(name, entry)
  return entries
}

function copied(tree: YamlTree): YamlTree {
  if (tree.kind === 'scalar') return { ...tree }
  if (tree.kind === 'list') return { ...tree, items: tree.items.map(copied) }
  return { ...tree, entries: new Map([...tree.entries].map(([name, { key, value }]) => [name, { key, value: copied(value) }])) }
}

const spotOf = ({ spotAt }: Growth, node: unknown): YamlSpot => spotAt((isNode(node) && node.range?.[0]) || 0)

const plain = (value: unknown): YamlScalar['value'] =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
