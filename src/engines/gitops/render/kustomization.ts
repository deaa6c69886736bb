import { Failure, isRecord, type ReadYaml } from '../../../std/index.ts'
import { refuseRemote, refuseRemoteLoads, refuseRemoteReference } from './remote-references.ts'
import { folderOf, isBelow, isLink, LIMITS, refused, resolvePath, type SourceFile } from './source.ts'

const NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/** What a build of a kustomization reads. */
export interface Reach {
  /** Files and whole folders, from the root of the repository. */
  paths: string[]
  /** Of these, what the snapshot does not hold. It may be that it was not asked for. */
  missing: { path: string; from: string; written: string }[]
}

export const kustomizationIn = (files: ReadonlyMap<string, SourceFile>, folder: string): SourceFile | undefined =>
  NAMES.map((name) => files.get(folder === '' ? name : `${folder}/${name}`)).find((file) => file !== undefined)

/**
 * Follows every reference of a kustomization through bases and components before anything runs. Remote references,
 * whatever their field, and those that leave the repository are refused here: the program never gets to see them.
 */
export async function reachOf(files: ReadonlyMap<string, SourceFile>, path: string, yaml: ReadYaml): Promise<Reach> {
  const reach: Reach = { paths: [], missing: [] }
  const seen = new Set<string>()
  const follow = async (folder: string, depth: number, role: Role): Promise<void> => {
    const visit = `${folder}:${role}`
    if (seen.has(visit)) return
    seen.add(visit)
    if (depth > LIMITS.depth) throw refused(`${folder}: bases lie more than ${LIMITS.depth} deep`)
    reach.paths.push(folder)
    const kustomization = kustomizationIn(files, folder)
    if (!kustomization) return
    const documents = await documentsOf(kustomization, yaml)
    const inner = roleWithin(role, documents)
    check(inner, kustomization.source, documents)
    for (const { written, plugin } of referencesOf(kustomization, documents)) {
      const use = plugin && inner === 'objects' ? 'plugin' : inner
      if (written.includes('\n')) {
        check(use, kustomization.source, await inlineOf(written, kustomization.source, yaml))
        continue
      }
      const target = resolvePath(folder, written, kustomization.source)
      const file = files.get(target)
      if (file) {
        reach.paths.push(target)
        if (use !== 'objects') check(use, file.source, await documentsOf(file, yaml))
      } else if (holds(files, target)) await follow(target, depth + 1, use)
      else reach.missing.push({ path: target, from: kustomization.source, written })
    }
  }
  await follow(folderOf(path), 0, 'objects')
  return reach
}

/** What comes of files: objects; what configures a plug-in; or such a thing that is changed before it is used, in any way. */
type Role = 'objects' | 'plugin' | 'changed plugin'

/** A kustomization with these alone adds no value to what it names. */
const PLAIN = ['apiVersion', 'kind', 'metadata', 'resources', 'bases', 'namespace', 'namePrefix', 'nameSuffix']

function roleWithin(role: Role, documents: readonly unknown[]): Role {
  if (role !== 'plugin') return role
  return documents.every((one) => isRecord(one) && Object.keys(one).every((key) => PLAIN.includes(key))) ? role : 'changed plugin'
}

/** A URL among the values of an object is nobody's reference. */
function check(role: Role, source: string, documents: readonly unknown[]): void {
  if (role === 'plugin') refuseRemoteLoads(source, documents)
  if (role === 'changed plugin') refuseRemote(source, documents)
}

/** Patches and configurations may stand in place of their path. What only looks so is refused as a path would be. */
async function inlineOf(written: string, source: string, yaml: ReadYaml): Promise<unknown[]> {
  const { documents = [] } = await yaml(written)
  const values = documents.map(({ value }) => value)
  const isInline = values.length > 0 && values.every((value) => isRecord(value) || Array.isArray(value))
  if (!isInline) refuseRemote(source, [written])
  return values
}

/**
 * The patterns that a source must be asked for. One answer may reveal bases elsewhere: ask again with the new patterns
 * until they stay the same.
 */
export async function patternsFor(files: readonly SourceFile[], path: string, yaml: ReadYaml): Promise<string[]> {
  const byPath = new Map(files.map((file) => [file.source, file]))
  const { paths, missing } = await reachOf(byPath, path, yaml)
  const wanted = [...new Set([...paths, ...missing.map((entry) => entry.path)])].sort()
  const roots = wanted.filter((one) => !wanted.some((other) => other !== one && isBelow(one, other)))
  return roots
    .map((root) => patternFor(root, byPath.has(root) || missing.some((entry) => entry.path === root && isFileName(root))))
    .sort()
}

const patternFor = (root: string, isFile: boolean): string => (isFile ? root : root === '' ? '**' : `${root}/**`)

/** Of a path that nobody has seen yet. */
const isFileName = (path: string): boolean => /\.[a-z]+$/i.test(path)

function holds(files: ReadonlyMap<string, SourceFile>, folder: string): boolean {
  for (const path of files.keys()) if (isBelow(path, folder)) return true
  return false
}

interface Reference {
  written: string
  /** The file, or the folder with its files, configures a plug-in, whose fields are references again. */
  plugin?: boolean
}

/** https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/ */
function referencesOf(file: SourceFile, documents: readonly unknown[]): Reference[] {
  const references: Reference[] = []
  for (const document of documents) {
    if (!isRecord(document)) continue
    refuseMisspelt(file.source, document)
    for (const field of ['helmCharts', 'helmChartInflationGenerator', 'helmGlobals'])
      if (field in document) throw refused(`${file.source}: ${field} is not supported`, 'Commit the rendered chart.')
    for (const field of ['resources', 'bases', 'components', 'crds', 'configurations', 'patchesStrategicMerge'])
      references.push(...textsOf(document[field]).map((written) => ({ written })))
    for (const field of ['generators', 'transformers', 'validators'])
      references.push(...textsOf(document[field]).map((written) => ({ written, plugin: true })))
    for (const field of ['patches', 'patchesJson6902', 'replacements'])
      for (const entry of listOf(document[field])) references.push(...textsOf([entry.path]).map((written) => ({ written })))
    const { openapi } = document
    if (isRecord(openapi)) references.push(...textsOf([openapi.path]).map((written) => ({ written })))
    for (const field of ['configMapGenerator', 'secretGenerator'])
      references.push(...listOf(document[field]).flatMap(generatorFiles))
  }
  for (const { written } of references) if (!written.includes('\n')) refuseRemoteReference(file.source, written)
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

const generatorFiles = (generator: Record<string, unknown>): Reference[] =>
  [
    ...textsOf(generator.files).map((entry) => entry.slice(entry.indexOf('=') + 1)),
    ...textsOf(generator.envs),
    ...textsOf([generator.env]),
  ].map((written) => ({ written }))

async function documentsOf(file: SourceFile, yaml: ReadYaml): Promise<unknown[]> {
  if (file.link !== undefined) throw isLink(file)
  if (file.data.length > LIMITS.kustomizationBytes)
    throw new Failure('too-large', `${file.source}: is larger than ${LIMITS.kustomizationBytes} bytes`, {
      reason: 'FileTooLarge',
    })
  const { documents, problem } = await yaml(Buffer.from(file.data).toString('utf8'))
  if (problem) throw refused(`${file.source}:${problem.line}:${problem.column}: ${problem.message}`)
  return documents.map(({ value }) => value)
}

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [])
const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : [])
