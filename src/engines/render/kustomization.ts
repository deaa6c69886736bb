import { beginningOf, Failure, isRecord, type ReadYaml } from '../../std/index.ts'
import { refuseRemoteLoads, refuseRemoteReference } from './remote-references.ts'
import { folderOf, holdsAny, isLink, LIMITS, refused, resolvePath, rootsOf, type SourceFile, textIn } from './source.ts'

const NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/** The files that a build of a kustomization reads. */
export interface KustomizationReach {
  /** Files and whole folders, from the root of the repository. */
  paths: string[]
  /** Of these, what the snapshot does not hold. It may be that it was not asked for. */
  missing: { path: string; from: string; written: string }[]
  /** The documents of the kustomizations and of what configures plug-ins, by path, as they were checked. */
  checked: Map<string, readonly unknown[]>
  /** Files whose bytes become data: they stay as they are. */
  data: Set<string>
  /** Of these, the ones with a variable in each line. */
  envs: Set<string>
}

export const kustomizationIn = (files: ReadonlyMap<string, SourceFile>, folder: string): SourceFile | undefined =>
  NAMES.map((name) => files.get(folder === '' ? name : `${folder}/${name}`)).find((file) => file !== undefined)

/** A path with kustomizations below it, and none in it, as Flux builds it: as if it had one with these for bases. */
export interface Folders {
  files: ReadonlyMap<string, SourceFile>
  /** None of them is below another one. */
  bases: readonly string[]
}

export function foldersIn(files: ReadonlyMap<string, SourceFile>, folder: string): Folders {
  if (kustomizationIn(files, folder)) return { files, bases: [] }
  const beginning = folder === '' ? '' : `${folder}/`
  const below = [...files.keys()].filter((path) => path.startsWith(beginning) && isKustomization(path))
  const bases = rootsOf(below.map((path) => path.slice(0, path.lastIndexOf('/'))))
  if (bases.length === 0) return { files, bases }
  const source = `${beginning}${NAMES[0]}`
  const resources = bases.map((base) => `./${base.slice(beginning.length)}`)
  const made: SourceFile = { source, data: Buffer.from(JSON.stringify({ resources })) }
  return { files: new Map([...files, [source, made]]), bases }
}

/**
 * Follows every reference of a kustomization through bases and components before anything runs. Remote references,
 * whatever their field, and those that leave the repository are refused here: the program never gets to see them.
 * That only holds for what kustomize reads as we do, so it gets what was read here instead of the files (`asChecked`).
 */
export async function reachOf(files: ReadonlyMap<string, SourceFile>, path: string, yaml: ReadYaml): Promise<KustomizationReach> {
  const reach: KustomizationReach = { paths: [], missing: [], checked: new Map(), data: new Set(), envs: new Set() }
  const seen = new Set<string>()
  let count = 0
  let holds: ((folder: string) => boolean) | undefined
  const follow = async (folder: string, depth: number, role: Role): Promise<void> => {
    const visit = `${folder}:${role}`
    if (seen.has(visit)) return
    seen.add(visit)
    if (depth > LIMITS.depth) throw refused(`${folder}: bases lie more than ${LIMITS.depth} deep`)
    reach.paths.push(folder)
    const kustomization = kustomizationIn(files, folder)
    if (!kustomization) return
    const { source } = kustomization
    const documents = await documentsOf(kustomization, yaml)
    if (role === 'plugin') refuseChanges(source, documents)
    const inlines = new Map<string, string>()
    for (const { written, use = role, isInline } of referencesOf(kustomization, documents)) {
      if (++count > LIMITS.references) throw refused(`${source}: there are more than ${LIMITS.references} references in all`)
      if (isInline) {
        const values = await inlineOf(written, source, yaml)
        if (use === 'plugin') refuseRemoteLoads(source, values)
        inlines.set(written, textOf(values))
        continue
      }
      const target = resolvePath(folder, written, source)
      const file = files.get(target)
      if (file) {
        reach.paths.push(target)
        if (use === 'data' || use === 'envs') reach.data.add(target)
        if (use === 'envs') reach.envs.add(target)
        if (use === 'plugin') reach.checked.set(target, await pluginsIn(file, yaml))
        continue
      }
      holds ??= holdsAny(files.keys())
      if (!holds(target)) reach.missing.push({ path: target, from: source, written })
      else if (use !== 'data' && use !== 'envs') await follow(target, depth + 1, use)
    }
    reach.checked.set(
      source,
      documents.map((document) => withInlines(document, inlines)),
    )
  }
  await follow(folderOf(path), 0, 'objects')
  return reach
}

/** The files for kustomize: what was checked is written anew. A kustomization that nothing led to was not, and is not there. */
export function asChecked(files: readonly SourceFile[], { checked, data, paths }: KustomizationReach): SourceFile[] {
  const named = new Set(paths)
  return files.flatMap((file) => {
    const documents = checked.get(file.source)
    // kustomize itself puts something else in the place of bytes that are no text.
    if (named.has(file.source) && !data.has(file.source)) checkedText(file)
    if (!documents) return isKustomization(file.source) && !data.has(file.source) ? [] : [file]
    if (!data.has(file.source)) return [{ source: file.source, data: Buffer.from(textOf(documents)) }]
    throw refused(
      `${file.source}: is both a configuration for kustomize and the content of a ConfigMap or Secret`,
      'Commit a copy of it for the content.',
    )
  })
}

/** kustomize says of a field that it does not know, and of much else, no file. It is one of those that have such a field, or where the build began. */
export function namingFile(failure: Failure, folder: string, { checked }: KustomizationReach): Failure {
  const { code, message, reason, remedy } = failure
  if (code !== 'invalid' || reason !== 'RenderFailed') return failure
  const field = /unknown field "([^"]{1,100})"/.exec(message)?.[1]
  const having = [...checked].filter(([path, documents]) => isKustomization(path) && hasField(documents, field))
  const places = having.length > 0 ? having.map(([path]) => path) : [folder || '.']
  return new Failure(code, `${places.slice(0, 3).join(', ')}: ${message}`, { reason, ...(remedy && { remedy }), cause: failure })
}

const hasField = (documents: readonly unknown[], field: string | undefined): boolean =>
  field !== undefined && JSON.stringify(documents).includes(`${JSON.stringify(field)}:`)

const isKustomization = (path: string): boolean => NAMES.includes(path.slice(path.lastIndexOf('/') + 1))

/** As JSON, which is YAML that nobody reads in another way once the signs are escaped that YAML takes for line breaks or refuses. */
const textOf = (documents: readonly unknown[]): string =>
  documents
    .map((document) => `${JSON.stringify(document)}\n`.replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, escaped))
    .join('---\n')

const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Files and folders bring objects, or the configuration of a plug-in. */
type Role = 'objects' | 'plugin'
/** Of a file also: the content of a ConfigMap or Secret. */
type Use = Role | 'data' | 'envs'

/** A kustomization with these alone adds no value to what it names. */
const PLAIN = ['apiVersion', 'kind', 'metadata', 'resources', 'bases', 'namespace', 'namePrefix', 'nameSuffix']

/** Patches and replacements could put a reference together, of parts that are none, after it was looked for. */
function refuseChanges(source: string, documents: readonly unknown[]): void {
  const changing = documents
    .filter(isRecord)
    .flatMap(Object.keys)
    .find((key) => !PLAIN.includes(key))
  if (changing !== undefined)
    throw refused(
      `${source}: ${JSON.stringify(beginningOf(changing, 100))} may not change what configures a generator, transformer or validator`,
      'Write the configuration as it should be.',
    )
}

/** A URL among the values of an object is nobody's reference; in the fields by which a plug-in loads something it is one. */
async function pluginsIn(file: SourceFile, yaml: ReadYaml): Promise<unknown[]> {
  const documents = await documentsOf(file, yaml)
  refuseRemoteLoads(file.source, documents)
  return documents
}

/** Patches and configurations may stand in place of their path: what has lines is read here, and kustomize gets what was read. */
async function inlineOf(written: string, source: string, yaml: ReadYaml): Promise<unknown[]> {
  const { documents, problem } = await yaml(written)
  if (problem) throw refused(`${source}: line ${problem.line} of what stands there in place of a path: ${problem.message}`)
  const values = documents.map(({ value }) => value)
  if (values.length === 0 || !values.every((value) => isRecord(value) || Array.isArray(value)))
    throw refused(`${source}: what has several lines in place of a path must be a YAML mapping or list`)
  return values
}

function withInlines(document: unknown, inlines: ReadonlyMap<string, string>): unknown {
  if (!isRecord(document) || inlines.size === 0) return document
  const replaced = INLINE.flatMap((field) => {
    const value = document[field]
    return Array.isArray(value) ? [[field, value.map((entry) => inlines.get(entry) ?? entry)]] : []
  })
  return { ...document, ...Object.fromEntries(replaced) }
}

/**
 * The patterns that a source must be asked for; `also` are paths that are wanted in any case. One answer may reveal bases elsewhere: ask again with the new patterns
 * until they stay the same.
 */
export async function patternsFor(
  files: readonly SourceFile[],
  path: string,
  yaml: ReadYaml,
  also: readonly string[] = [],
): Promise<string[]> {
  const { files: byPath } = foldersIn(new Map(files.map((file) => [file.source, file])), folderOf(path))
  const { paths, missing } = await reachOf(byPath, path, yaml)
  const absent = new Set([...missing.map((entry) => entry.path), ...also])
  const isFile = (root: string) => byPath.has(root) || (absent.has(root) && isFileName(root))
  return rootsOf([...paths, ...absent])
    .map((root) => patternFor(root, isFile(root)))
    .sort()
}

/** A name may hold what means something in a pattern: `[slug]` does, and a stranger's would be a costly one. */
const patternFor = (root: string, isFile: boolean): string => {
  const literal = root.replaceAll(/[*?[{\\]/g, '\\$&')
  return isFile ? literal : root === '' ? '**' : `${literal}/**`
}

/** The path for which it was made, with the stars at its end: nothing else in it means something. */
export const pathIn = (pattern: string): string => pattern.replaceAll(/\\(.)/gs, '$1')

/** Of a path that nobody has seen yet. */
const isFileName = (path: string): boolean => /\.[a-z]+$/i.test(path)

interface Reference {
  written: string
  /** Where it is not that of the kustomization itself. */
  use?: Use
  /** It stands there itself. */
  isInline?: boolean
}

/** Fields that name a file or a folder that configures a plug-in, whose fields are references again. */
const PLUGINS = ['generators', 'transformers', 'validators']
/** Fields with entries that may stand in place of their path. */
const INLINE = ['patchesStrategicMerge', ...PLUGINS]

/** https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/ */
function referencesOf(file: SourceFile, documents: readonly unknown[]): Reference[] {
  const references: Reference[] = []
  for (const document of documents) {
    if (!isRecord(document)) continue
    refuseMisspelt(file.source, document)
    for (const field of ['helmCharts', 'helmChartInflationGenerator', 'helmGlobals'])
      if (field in document) throw refused(`${file.source}: ${field} is not supported`, 'Commit the rendered chart.')
    for (const field of ['resources', 'bases', 'components', 'crds', 'configurations'])
      references.push(...textsOf(document[field]).map((written) => ({ written })))
    for (const field of INLINE)
      references.push(
        ...textsOf(document[field]).map(
          (written): Reference => ({
            written,
            isInline: written.includes('\n'),
            ...(PLUGINS.includes(field) && { use: 'plugin' }),
          }),
        ),
      )
    for (const field of ['patches', 'patchesJson6902', 'replacements'])
      for (const entry of listOf(document[field])) references.push(...textsOf([entry.path]).map((written) => ({ written })))
    const { openapi } = document
    if (isRecord(openapi)) references.push(...textsOf([openapi.path]).map((written) => ({ written })))
    for (const field of ['configMapGenerator', 'secretGenerator'])
      references.push(...listOf(document[field]).flatMap(generatorFiles))
  }
  for (const { written, isInline } of references) if (!isInline) refuseRemoteReference(file.source, written)
  return references
}

/** Fields that hold references, and within those that are lists of records or a record, the fields of these. */
const FIELDS =
  'resources bases components crds configurations patchesStrategicMerge generators transformers validators helmCharts helmChartInflationGenerator helmGlobals patches patchesJson6902 replacements openapi configMapGenerator secretGenerator path files envs env'.split(
    ' ',
  )
const NESTED = ['patches', 'patchesJson6902', 'replacements', 'openapi', 'configMapGenerator', 'secretGenerator']

/** kustomize takes `Resources` for `resources`; here it would pass unseen, and what it names with it. */
function refuseMisspelt(source: string, record: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(record)) {
    const folded = key.toUpperCase().toLowerCase()
    const field = FIELDS.find((name) => name.toLowerCase() === folded)
    if (field !== undefined && field !== key) throw refused(`${source}: ${JSON.stringify(key)} must be written ${field}`)
    if (NESTED.includes(key)) for (const inner of [...listOf(value), ...listOf([value])]) refuseMisspelt(source, inner)
  }
}

const generatorFiles = (generator: Record<string, unknown>): Reference[] => [
  ...textsOf(generator.files).map((entry): Reference => ({ written: entry.slice(entry.indexOf('=') + 1), use: 'data' })),
  ...[...textsOf(generator.envs), ...textsOf([generator.env])].map((written): Reference => ({ written, use: 'envs' })),
]

async function documentsOf(file: SourceFile, yaml: ReadYaml): Promise<unknown[]> {
  if (file.link !== undefined) throw isLink(file)
  if (file.data.length > LIMITS.kustomizationBytes)
    throw new Failure('too-large', `${file.source}: is larger than ${LIMITS.kustomizationBytes} bytes`, {
      reason: 'FileTooLarge',
      remedy: 'Split it, or have some of it in files that it names',
    })
  const { documents, problem } = await yaml(checkedText(file))
  if (problem) throw refused(`${file.source}:${problem.line}:${problem.column}: ${problem.message}`)
  return documents.map(({ value }) => value)
}

function checkedText(file: SourceFile): string {
  const { text, fault } = textIn(file)
  if (fault !== undefined) throw refused(`${file.source}:${fault.line}: ${fault.what}`)
  return text
}

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [])
const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : [])
