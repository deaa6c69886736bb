import { createHash } from 'node:crypto'
import { Failure, type ReadYamlTree } from '../std/index.ts'
import { entriesOver, mergedVolumes, patched, union } from './merge.ts'
import { type DevfileFindings, type ProblemReport, type ProblemText, pathsIn, problem, problemAt } from './problem.ts'
import { LARGEST, readTree } from './read.ts'
import { type DevfileReference, referenceOf } from './reference.ts'
import { DEVFILE, TEMPLATE } from './schema.ts'
import { checkShape, checkVersion } from './shape.ts'
import {
  at,
  entriesOf,
  isThere,
  itemsOf,
  listAt,
  mapAt,
  textOf,
  type YamlEntry,
  type YamlMap,
  type YamlSpot,
  type YamlTree,
} from './tree.ts'

/** A text that a reference led to. */
export interface FetchedText {
  /** How people know it: its URL, or where in the cluster it is. Relative references in it begin here. */
  name: string
  text: string
}

/** Gets the text that a reference leads to, if it may. A Failure says why not; its maker limits addresses, sizes and times. */
export type DevfileFetcher = (reference: DevfileReference, signal?: AbortSignal) => Promise<FetchedText>

/** A text that went into the devfile, so that one can tell later whether it has changed. */
export interface ImportedText {
  name: string
  sha256: string
}

/** Parents of parents of … */
const DEEPEST_PARENT = 5
/** Each costs a request to somebody. */
const MOST_IMPORTS = 32

interface Flattening {
  findings: DevfileFindings
  fetch: DevfileFetcher
  read: ReadYamlTree | undefined
  sources: ImportedText[]
  /** Of the sources together: all their trees are kept until the end. */
  characters: number
  /** Trees as they were read, by the name of their text: places in the merged tree are named by them. */
  roots: Map<string, YamlTree>
  signal: AbortSignal | undefined
  /** Something could not be brought in: what seems to be missing may be there. */
  isWhole: boolean
}

/** The texts that led to the one that is being merged. */
interface ImportPath {
  name: string
  ids: readonly string[]
  depth: number
}

/** The content of a devfile with its parent and plugins in it: parent, plugins, main, in this order. */
export async function flattened(flattening: Flattening, root: YamlMap, way: ImportPath): Promise<YamlMap> {
  const report = { findings: flattening.findings, pathOf: pathsIn(root) }
  const plugins = itemsOf(at(root, 'components')).map((component) => at(component, 'plugin'))
  const contents: YamlMap[] = []
  for (const holder of [at(root, 'parent'), ...plugins].filter(isThere)) {
    const content = await importedContent(flattening, report, holder, way)
    if (content) contents.push(overridden(report, content, holder))
    else flattening.isWhole = false
  }
  if (contents.length === 0) return without(root, 'parent')
  return merged(flattening, contents, root)
}

/** The flattened content that a reference leads to. */
async function importedContent(
  flattening: Flattening,
  report: ProblemReport,
  holder: YamlTree,
  way: ImportPath,
): Promise<YamlMap | undefined> {
  const note = (finding: ProblemText): undefined => problem(report, holder, finding)
  const found = referenceOf(holder, way.name)
  if (!found) return undefined
  if ('rule' in found) return note(found)
  const { reference, id } = found
  if (way.ids.includes(id))
    return note({ rule: 'import-cycle', message: `${id} is brought in by itself`, remedy: 'break the ring' })
  if (way.depth >= DEEPEST_PARENT)
    return note({ rule: 'import-depth', message: `more than ${DEEPEST_PARENT} parents above one another are not read` })
  if (flattening.sources.length >= MOST_IMPORTS || flattening.characters > LARGEST)
    return note({ rule: 'import-depth', message: `more than ${MOST_IMPORTS} parents and plugins, or 3 MB of them, are not read` })
  const fetched = await fetchedBy(flattening, reference, note)
  const root = fetched && (await contentOf(flattening, fetched, reference.by === 'kubernetes'))
  if (!fetched || !root) return undefined
  return flattened(flattening, root, { name: fetched.name, ids: [...way.ids, id], depth: way.depth + 1 })
}

async function fetchedBy(
  { fetch, signal }: Flattening,
  reference: DevfileReference,
  note: (finding: ProblemText) => undefined,
): Promise<FetchedText | undefined> {
  try {
    return await fetch(reference, signal)
  } catch (thrown) {
    const { code, message, remedy } = Failure.from(thrown)
    if (code === 'cancelled' || code === 'internal') throw thrown
    return note({ rule: 'import', message: `cannot be read: ${message}`, ...(remedy && { remedy }) })
  }
}

async function contentOf(flattening: Flattening, { name, text }: FetchedText, isTemplate: boolean): Promise<YamlMap | undefined> {
  const { findings, read, sources, roots } = flattening
  flattening.characters += text.length
  sources.push({ name, sha256: createHash('sha256').update(text).digest('hex') })
  const tree = await readTree({ name, text }, findings, read)
  if (!tree) return undefined
  const root = isTemplate && at(tree, 'apiVersion') ? (at(tree, 'spec') ?? tree) : tree
  roots.set(name, root)
  const shape = isTemplate ? TEMPLATE : DEVFILE
  checkShape({ findings, pathOf: pathsIn(root), version: checkVersion(findings, root, isTemplate), isTemplate }, root, shape)
  return root.kind === 'map' ? root : undefined
}

const OVERRIDABLE = ['components', 'commands', 'projects', 'starterProjects', 'dependentProjects'] as const
const keyOf = (list: string): 'name' | 'id' => (list === 'commands' ? 'id' : 'name')

/** Only what is there can be overridden; new elements belong into the main body. */
function overridden(report: ProblemReport, content: YamlMap, holder: YamlTree): YamlMap {
  const patch = mapAt(holder, new Map())
  for (const list of OVERRIDABLE) {
    const there = new Set(itemsOf(at(content, list)).map((item) => textOf(at(item, keyOf(list)))))
    const overrides = at(holder, list)
    if (overrides?.kind !== 'list') continue
    const items = overrides.items.filter((item) => {
      const key = at(item, keyOf(list))
      const isKnown = there.has(textOf(key))
      if (!isKnown && key)
        problem(report, key, {
          rule: 'override-unknown',
          message: `"${textOf(key)}" overrides nothing: ${list} of the parent or plugin do not have it`,
          remedy: `define it in the main body's ${list}`,
        })
      return isKnown
    })
    patch.entries.set(list, { key: overrides, value: { ...overrides, items } })
  }
  for (const field of ['variables', 'attributes']) {
    const entry = entriesOf(holder).get(field)
    if (entry && isThere(entry.value)) patch.entries.set(field, entry)
  }
  const merging = patched(content, patch, { ...TEMPLATE, oneOf: [] })
  return merging.kind === 'map' ? merging : content
}

function merged(flattening: Flattening, contents: readonly YamlMap[], main: YamlMap): YamlMap {
  const { entries } = without(main, 'parent')
  const version = newestOf([...contents, main])
  if (version) entries.set('schemaVersion', version)
  for (const field of ['variables', 'attributes']) {
    const trees = [...contents, main].map((content) => at(content, field)).filter(isThere)
    const [first] = trees
    if (first) entries.set(field, { key: first, value: trees.reduce((base, over) => entriesOver(base, over)) })
  }
  for (const list of OVERRIDABLE) {
    const items = listOf(flattening, contents, main, list)
    const holder = at(main, list) ?? contents.map((content) => at(content, list)).find(isThere)
    if (!holder) continue
    entries.set(list, { key: holder, value: listAt(holder, items) })
  }
  const events = eventsOf([...contents, main])
  if (events) entries.set('events', events)
  return { ...main, entries }
}

function newestOf(contents: readonly YamlMap[]): YamlEntry | undefined {
  const versions = contents.map((content) => content.entries.get('schemaVersion')).filter((entry) => textOf(entry?.value))
  return versions.sort((a, b) => compareVersions(textOf(b?.value) ?? '', textOf(a?.value) ?? ''))[0]
}

const compareVersions = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })

/** Of parent and plugins first, then of the main body, which may not define anything a second time. */
function listOf({ findings }: Flattening, contents: readonly YamlMap[], main: YamlMap, list: string): YamlTree[] {
  const key = keyOf(list)
  const items: YamlTree[] = []
  const places = new Map<string, { place: number; isMain: boolean }>()
  for (const content of [...contents, main]) {
    for (const item of itemsOf(at(content, list))) {
      if (at(item, 'plugin')) continue
      const name = textOf(at(item, key)) ?? ''
      const other = name === '' ? undefined : places.get(name)
      const isMain = content === main
      if (!other || (isMain && other.isMain)) {
        places.set(name, { place: items.length, isMain })
        items.push(item)
        continue
      }
      const both = isMain ? undefined : mergedVolumes(items[other.place], item)
      if (both) items[other.place] = both
      else findings.problems.push(definedTwice(at(item, key) ?? item, name, list, isMain))
    }
  }
  return items
}

function definedTwice(spot: YamlSpot, name: string, list: string, isMain: boolean) {
  return problemAt(spot, `${list}.${name}`, {
    rule: 'redefined',
    message: `"${name}" of ${list} is defined in ${isMain ? 'the parent or a plugin' : 'two of the parent and the plugins'} already`,
    remedy: isMain ? `override it in parent.${list}, or rename it` : 'bring in only one of them',
  })
}

function eventsOf(contents: readonly YamlMap[]): YamlEntry | undefined {
  const all = contents.map((content) => at(content, 'events')).filter(isThere)
  const [first] = all
  if (!first) return undefined
  const entries: YamlMap['entries'] = new Map()
  for (const event of ['preStart', 'postStart', 'preStop', 'postStop']) {
    const list = all.map((events) => at(events, event)).reduce<YamlTree | undefined>((base, over) => union(base, over), undefined)
    if (list) entries.set(event, { key: list, value: list })
  }
  return { key: first, value: mapAt(first, entries) }
}

function without(root: YamlMap, field: string): YamlMap {
  const entries = new Map(root.entries)
  entries.delete(field)
  return { ...root, entries }
}
