import { Failure, isRecord, type ReadYaml, redactUrls } from '../../std/index.ts'
import { folderOf, isBelow, LIMITS, refused, resolvePath, type SourceFile } from './source.ts'

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
  const follow = async (folder: string, depth: number, isPlugin = false): Promise<void> => {
    const visit = `${folder}:${isPlugin}`
    if (seen.has(visit)) return
    seen.add(visit)
    if (depth > LIMITS.depth) throw refused(`${folder}: bases lie more than ${LIMITS.depth} deep`)
    reach.paths.push(folder)
    const kustomization = kustomizationIn(files, folder)
    if (!kustomization) return
    for (const { written, plugin = isPlugin } of referencesOf(kustomization, await documentsOf(kustomization, yaml))) {
      const target = resolvePath(folder, written, kustomization.source)
      const file = files.get(target)
      if (file) {
        reach.paths.push(target)
        if (plugin) refuseRemote(file.source, await documentsOf(file, yaml))
      } else if (holds(files, target)) await follow(target, depth + 1, plugin)
      else reach.missing.push({ path: target, from: kustomization.source, written })
    }
  }
  await follow(folderOf(path), 0)
  return reach
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
  const inline = references.filter(({ written }) => written.includes('\n'))
  for (const { written } of inline) refuseRemote(file.source, [written])
  const paths = references.filter(({ written }) => !written.includes('\n'))
  for (const { written } of paths) if (isRemote(written)) throw remote(file.source, written)
  return paths
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

/** kustomize takes for remote what has a scheme, a `user@host:` or a `?ref=`, and hosts that it knows by name. */
const isRemote = (written: string): boolean =>
  /^[a-z][a-z0-9+.-]*:|^[^/]+@[^/]+:|[?&](ref|version|timeout|submodules)=|^(github\.com|gitlab\.com|bitbucket\.org)[/:]|^git@/i.test(
    written,
  )

function refuseRemote(source: string, values: readonly unknown[]): void {
  for (const value of values) {
    if (typeof value === 'string' && /[a-z][a-z0-9+.-]*:\/\/|git@/i.test(value)) throw remote(source, value.split('\n')[0] ?? '')
    if (Array.isArray(value)) refuseRemote(source, value)
    else if (isRecord(value)) refuseRemote(source, Object.values(value))
  }
}

const remote = (source: string, written: string) =>
  refused(
    `${source}: ${JSON.stringify(redactUrls(written))} is remote; only files of the repository are used`,
    'Commit a copy of it.',
  )

async function documentsOf(file: SourceFile, yaml: ReadYaml): Promise<unknown[]> {
  if (file.link !== undefined) throw refused(`${file.source}: is a symbolic link`, 'Commit the file itself.')
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
