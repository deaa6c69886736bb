import { isAlias, isMap, isNode, isScalar, isSeq } from 'yaml'
import { composeYaml, type YamlLimits, type YamlPlace, type YamlProblem } from './yaml.ts'

/** A value with its place, so that who reads a file for people can say where something is wrong. */
export type YamlTree = YamlPlace & (YamlScalar | YamlList | YamlMap)

interface YamlScalar {
  kind: 'scalar'
  /** `undefined`: a value of a type that JSON does not have. */
  value: string | number | boolean | null | undefined
}

interface YamlList {
  kind: 'list'
  items: YamlTree[]
}

interface YamlMap {
  kind: 'map'
  entries: Map<string, { key: YamlPlace; value: YamlTree }>
}

/**
 * The one document of a text, read as `parseYaml` does, within the same limits. An alias is what it stands for, with the places
 * of that. `tree` is missing when there is nothing but comments.
 */
export function parseYamlTree(
  text: string,
  limits: Partial<YamlLimits> = {},
): { tree?: YamlTree; problem?: undefined } | { problem: YamlProblem } {
  let found: { tree?: YamlTree } = {}
  for (const { document, at, problem } of composeYaml(text, limits)) {
    if (problem) return { problem }
    if (document.contents === null) continue
    const growth: Growth = { at, anchors: new Map() }
    const tree = grow(growth, document.contents)
    if (found.tree) return { problem: { ...placeOf(growth, document.contents), message: 'A second document is one too many' } }
    if (tree.kind !== 'scalar' || tree.value !== null) found = { tree }
  }
  return found
}

interface Growth {
  at: (offset: number) => YamlPlace
  /** What has been read under each name: looking an alias up must not take the time of reading the document again. */
  anchors: Map<string, YamlTree>
}

function grow(growth: Growth, node: unknown): YamlTree {
  const nothing: YamlTree = { kind: 'scalar', value: null, ...placeOf(growth, node) }
  if (isAlias(node)) return growth.anchors.get(node.source) ?? nothing
  const tree = isScalar(node)
    ? { ...nothing, value: plain(node.value) }
    : (growList(growth, node) ?? growMap(growth, node) ?? nothing)
  if (isNode(node) && node.anchor !== undefined) growth.anchors.set(node.anchor, tree)
  return tree
}

function growList(growth: Growth, node: unknown): YamlTree | undefined {
  return isSeq(node) ? { kind: 'list', items: node.items.map((item) => grow(growth, item)), ...placeOf(growth, node) } : undefined
}

/** What is merged in by `<<` stands behind what the mapping says itself. */
function growMap(growth: Growth, node: unknown): YamlTree | undefined {
  if (!isMap(node)) return undefined
  const entries: YamlMap['entries'] = new Map()
  const merged: YamlTree[] = []
  for (const pair of node.items) {
    const key = placeOf(growth, pair.key)
    const value: YamlTree = pair.value === null ? { kind: 'scalar', value: null, ...key } : grow(growth, pair.value)
    if (isScalar(pair.key) && pair.key.type === 'PLAIN' && pair.key.source === '<<') merged.push(value)
    else entries.set(isScalar(pair.key) ? String(pair.key.value) : '', { key, value })
  }
  for (const tree of merged.flatMap((one) => (one.kind === 'list' ? one.items : [one])))
    if (tree.kind === 'map') for (const [name, entry] of tree.entries) if (!entries.has(name)) entries.set(name, entry)
  return { kind: 'map', entries, ...placeOf(growth, node) }
}

const placeOf = ({ at }: Growth, node: unknown): YamlPlace => at((isNode(node) && node.range?.[0]) || 0)

const plain = (value: unknown): YamlScalar['value'] =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined
