import { createHash } from 'node:crypto'
import {
  createTurnstile,
  createYamlReaders,
  Failure,
  type Log,
  LRUCache,
  type ReadYaml,
  type ReadYamlTree,
  silentLog,
} from '../../std/index.ts'
import { type Chart, type ChartSettings, chartIn, createHelm, isChart, templatesIn } from './chart.ts'
import { createConfined, RENDER_LIMITS, type RenderLimits } from './confined.ts'
import { createReader, type Found, type Reader } from './documents.ts'
import { withPieces, withStandIns } from './generated.ts'
import { asChecked, foldersIn, type KustomizationReach, kustomizationIn, namingFile, reachOf } from './kustomization.ts'
import { createKustomize } from './kustomize.ts'
import { checkRendered, type Manifest } from './manifest.ts'
import { plainFiles } from './plain.ts'
import { sealedIn, withFiles } from './sealed.ts'
import { checkPath, folderOf, holdsAny, isLink, refused, type Snapshot, type SourceFile, withinAny } from './source.ts'

export interface RendererOptions {
  /** The program kubectl, which contains kustomize, or kustomize itself. */
  kubectl: string
  /** The program helm. */
  helm?: string
  limits?: Partial<RenderLimits>
  /** One for all who read YAML in a program: each is a thread. */
  yaml?: ReadYaml
  /** The same for files that are encrypted. */
  yamlTree?: ReadYamlTree
  log?: Log
}

/** Turns files into objects. The same files, rendered in the same way, give the same objects, without running anything again. */
export type Render = (snapshot: Snapshot, path: string, how?: RenderHow) => Promise<readonly Manifest[]>

export interface RenderHow {
  signal?: AbortSignal | undefined
  /** On whose behalf: for what takes long, tenants take turns. */
  tenant?: string | undefined
  /** For a path that holds a Helm chart; without it, one is refused. */
  chart?: ChartSettings | undefined
  /** Told how many bytes kustomize or helm has made of the files: any number, of few. Throws where that is too much. */
  made?(bytes: number): void
}

interface Rendered {
  manifests: readonly Manifest[]
  /** Of the text that they were read from. */
  bytes: number
}

/** Bytes of files whose objects are remembered, and of what was made of them. */
const MOST = 64 * 2 ** 20
/** Each runs on more than one core by itself. */
const AT_ONCE = 2
/** Of one tenant: another's need never wait for how long they take. */
const OF_ONE = 1

export function createRenderer({
  kubectl,
  helm: helmProgram = 'helm',
  limits,
  log = silentLog,
  ...own
}: RendererOptions): Render {
  const readers = createYamlReaders()
  const { yaml = readers.readYaml, yamlTree = readers.readYamlTree } = own
  const known = new LRUCache<string, Rendered>({ maxSize: MOST })
  // A file that no commit changes is the same from snapshot to snapshot.
  const files = new WeakMap<SourceFile, Found>()
  const reader = createReader(yaml)
  const turns = createTurnstile({ width: AT_ONCE, each: OF_ONE })
  const run = createConfined({ ...RENDER_LIMITS, ...limits }, log)
  const kustomize = createKustomize(kubectl, run)
  const helm = createHelm(helmProgram, run)
  const withTheirFiles = async (manifests: readonly Manifest[], from: readonly SourceFile[], tenant: string) => {
    const isSealed = manifests.some(({ sealed }) => sealed?.metadata !== undefined)
    const encrypted = isSealed ? await Promise.all(from.map((file) => sealedIn(file, yamlTree, tenant))) : []
    return withFiles(manifests, encrypted.flat())
  }
  const remembered = (key: string, rendered: Rendered, from: readonly SourceFile[]): Rendered => {
    known.set(key, rendered, { size: sizeOf(from) + rendered.bytes })
    return rendered
  }
  const kustomized = async ({ needed, reach }: Needed, folder: string, { signal, tenant = '' }: RenderHow): Promise<Rendered> => {
    const key = digestOf(folder, needed)
    const before = known.get(key)
    if (before) return before
    const { files: checked, pieces } = await withStandIns(asChecked(needed, reach), reach, yamlTree, tenant)
    const text = await turns
      .pass(tenant, () => kustomize(checked, folder, signal))
      .catch((thrown: unknown) => {
        throw namingFile(Failure.from(thrown), folder, reach)
      })
    const read = await reader.read(`in what kustomize made of ${folder || '.'}`, text, { withoutLines: true, tenant })
    const found = withPieces(checkRendered(read.manifests, read.problems), pieces)
    return remembered(key, { manifests: await withTheirFiles(found, needed, tenant), bytes: text.length }, needed)
  }
  const charted = async (chart: Chart, { signal, tenant = '' }: RenderHow): Promise<Rendered> => {
    const key = digestOfChart(chart)
    const before = known.get(key)
    if (before) return before
    const printed = await turns.pass(tenant, () => helm(chart, signal))
    const { manifests, problems } = await readPrinted(printed, chart.folder, { reader, tenant })
    const found = await withTheirFiles(checkRendered(manifests, problems), chart.files, tenant)
    return remembered(key, { manifests: found, bytes: printed.length }, chart.files)
  }
  const renderFolder = async (snapshot: Snapshot, folder: string, { signal, tenant }: RenderHow): Promise<Rendered> => {
    const found = await neededOf(snapshot, folder, (text) => yaml(text, tenant))
    const { manifests, problems } = await plainFiles(found.plain, { reader, known: files, tenant, yamlTree })
    const plain = checkRendered(manifests, problems)
    if (found.needed.length === 0) return { manifests: plain, bytes: 0 }
    const built = await kustomized(found, folder, { signal, tenant })
    return plain.length === 0 ? built : { ...built, manifests: checkRendered([...plain, ...built.manifests], []) }
  }
  // Hundreds of syncs may bring the same folder to hundreds of places.
  const folders = new WeakMap<Snapshot, Map<string, Rendered>>()
  const renderPath = async (snapshot: Snapshot, folder: string, how: RenderHow): Promise<Rendered> => {
    const settings = how.chart && settingsFor(snapshot, folder, how.chart)
    if (settings) return charted(await chartIn(snapshot, folder, settings, (text) => yaml(text, how.tenant)), how)
    const before = folders.get(snapshot)?.get(folder)
    if (before) return before
    const rendered = await renderFolder(snapshot, folder, how)
    const others = folders.get(snapshot) ?? new Map<string, Rendered>()
    folders.set(snapshot, others.set(folder, rendered))
    return rendered
  }
  return async (snapshot, path, how = {}) => {
    const { manifests, bytes } = await renderPath(snapshot, folderOf(path), how)
    how.made?.(bytes)
    return manifests
  }
}

/** Each object is told with the template that it is from. */
async function readPrinted(
  printed: string,
  folder: string,
  { reader, tenant }: { reader: Reader; tenant: string },
): Promise<Found> {
  const all: Found = { manifests: [], problems: [] }
  for (const { source, text } of templatesIn(printed, folder)) {
    const read = await reader.read(`in what helm made of ${source || '.'}`, text, { withoutLines: true, tenant })
    for (const manifest of read.manifests) all.manifests.push(manifest)
    for (const problem of read.problems) all.problems.push(problem)
  }
  return all
}

/** A kustomization beside a chart is what counts, unless somebody wrote how the chart is rendered. */
function settingsFor(snapshot: Snapshot, folder: string, settings: ChartSettings): ChartSettings | undefined {
  if (isChart(snapshot.files, folder)) {
    const files = new Map(snapshot.files.map((file) => [checkPath(file.source), file]))
    return settings.isExpected || !kustomizationIn(files, folder) ? settings : undefined
  }
  if (!settings.isExpected) return undefined
  throw refused(
    `path ${JSON.stringify(folder || '.')} is to be rendered by Helm, and holds no Chart.yaml in commit ${snapshot.commitId.slice(0, 12)}`,
    'Name the folder of the chart, or leave out how a chart is rendered.',
  )
}

interface Needed {
  /** By kustomize, in the order of their paths; none where there is no kustomization. */
  needed: SourceFile[]
  reach: KustomizationReach
  /** The files that hold objects by themselves, in that order. */
  plain: SourceFile[]
}

/** The files that the result depends on, checked: nothing else may change it. */
async function neededOf(snapshot: Snapshot, folder: string, yaml: ReadYaml): Promise<Needed> {
  const byPath = new Map<string, SourceFile>()
  for (const file of snapshot.files) byPath.set(checkPath(file.source), file)
  const folders = foldersIn(byPath, folder)
  const reach = await reachOf(folders.files, folder, yaml)
  const { paths, missing } = reach
  const wanted = [...paths, ...missing.map(({ path }) => path)]
  const isWanted = withinAny(wanted)
  const leadsOn = holdsAny(wanted)
  const link = snapshot.files.find((file) => file.link !== undefined && (isWanted(file.source) || leadsOn(file.source)))
  if (link) throw isLink(link)
  const [absent] = missing
  if (absent)
    throw refused(
      `${absent.from}: ${JSON.stringify(absent.written)} is not in the repository`,
      'Remote bases are not fetched; correct the path or commit the file.',
    )
  // Nothing is missing here, so all that is wanted is needed.
  const files = [...folders.files.values()].filter(({ source }) => isWanted(source))
  if (files.length === 0) {
    const reason = { reason: 'PathNotFound', remedy: 'Correct spec.source.path, or push files there.' }
    throw new Failure(
      'invalid',
      `path ${JSON.stringify(folder || '.')} holds no files in commit ${snapshot.commitId.slice(0, 12)}`,
      reason,
    )
  }
  const inOrder = files.sort((a, b) => (a.source < b.source ? -1 : 1))
  if (kustomizationIn(byPath, folder)) return { needed: inOrder, reach, plain: [] }
  if (folders.bases.length === 0) return { needed: [], reach, plain: inOrder }
  const isOfBase = withinAny(folders.bases)
  const isBelow = withinAny([folder])
  const isPlain = ({ source }: SourceFile) => isBelow(source) && !isOfBase(source) && byPath.has(source)
  return { needed: inOrder.filter((file) => !isPlain(file)), reach, plain: inOrder.filter(isPlain) }
}

const sizeOf = (files: readonly SourceFile[]): number => files.reduce((sum, { data }) => sum + data.length, 1)

function digestOf(folder: string, files: readonly SourceFile[]): string {
  const hash = createHash('sha256').update(`${folder}\0`)
  for (const { source, data, link } of files) hash.update(`${source}\0${link ?? ''}\0${data.length}\0`).update(data)
  return hash.digest('hex')
}

function digestOfChart({ folder, files, valueFiles, values, settings, capabilities }: Chart): string {
  const { releaseName, namespace, skipCrds } = settings
  const named = valueFiles.map(({ source }) => source)
  const rest = JSON.stringify([releaseName, namespace, skipCrds, named, values, capabilities])
  return createHash('sha256')
    .update(`${digestOf(folder, files)}\0${rest}`)
    .digest('hex')
}
