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
import { createReader, type Found } from './documents.ts'
import { withPieces, withStandIns } from './generated.ts'
import { asChecked, foldersIn, type KustomizationReach, kustomizationIn, namingFile, reachOf } from './kustomization.ts'
import { createKustomize, KUSTOMIZE_LIMITS, type KustomizeLimits } from './kustomize.ts'
import { checkRendered, type Manifest } from './manifest.ts'
import { plainFiles } from './plain.ts'
import { sealedIn, withFiles } from './sealed.ts'
import { checkPath, folderOf, holdsAny, isLink, refused, type Snapshot, type SourceFile, withinAny } from './source.ts'

export interface RendererOptions {
  /** The program kubectl, which contains kustomize, or kustomize itself. */
  kubectl: string
  limits?: Partial<KustomizeLimits>
  /** One for all who read YAML in a program: each is a thread. */
  yaml?: ReadYaml
  /** The same for files that are encrypted. */
  yamlTree?: ReadYamlTree
  log?: Log
}

/**
 * Turns files into objects. The same files give the same objects, without running anything again. `tenant` is on whose behalf: for what
 * takes long, tenants take turns.
 */
export type Render = (snapshot: Snapshot, path: string, signal?: AbortSignal, tenant?: string) => Promise<readonly Manifest[]>

/** Bytes of files whose objects are remembered. */
const MOST = 64 * 2 ** 20
/** Each runs on more than one core by itself. */
const KUSTOMIZE_AT_ONCE = 2
/** Of one tenant: another's need never wait for how long they take. */
const KUSTOMIZE_OF_ONE = 1

export function createRenderer({ kubectl, limits, log = silentLog, ...own }: RendererOptions): Render {
  const readers = createYamlReaders()
  const { yaml = readers.readYaml, yamlTree = readers.readYamlTree } = own
  const known = new LRUCache<string, readonly Manifest[]>({ maxSize: MOST })
  // A file that no commit changes is the same from snapshot to snapshot.
  const files = new WeakMap<SourceFile, Found>()
  const reader = createReader(yaml)
  const turns = createTurnstile({ width: KUSTOMIZE_AT_ONCE, each: KUSTOMIZE_OF_ONE })
  const kustomize = createKustomize(kubectl, { ...KUSTOMIZE_LIMITS, ...limits }, log)
  const kustomized = async ({ needed, reach }: Needed, folder: string, { signal, tenant = '' }: For) => {
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
    const hasSealed = found.some(({ sealed }) => sealed?.metadata !== undefined)
    const encrypted = hasSealed ? await Promise.all(needed.map((file) => sealedIn(file, yamlTree, tenant))) : []
    const rendered = withFiles(found, encrypted.flat())
    known.set(key, rendered, { size: needed.reduce((sum, { data }) => sum + data.length, 1) })
    return rendered
  }
  const renderFolder = async (snapshot: Snapshot, folder: string, { signal, tenant }: For) => {
    const found = await neededOf(snapshot, folder, (text) => yaml(text, tenant))
    const { manifests, problems } = await plainFiles(found.plain, { reader, known: files, tenant, yamlTree })
    const plain = checkRendered(manifests, problems)
    if (found.needed.length === 0) return plain
    const built = await kustomized(found, folder, { signal, tenant })
    return plain.length === 0 ? built : checkRendered([...plain, ...built], [])
  }
  // Hundreds of syncs may bring the same folder to hundreds of places.
  const folders = new WeakMap<Snapshot, Map<string, readonly Manifest[]>>()
  return async (snapshot, path, signal, tenant) => {
    const folder = folderOf(path)
    const before = folders.get(snapshot)?.get(folder)
    if (before) return before
    const rendered = await renderFolder(snapshot, folder, { signal, tenant })
    const others = folders.get(snapshot) ?? new Map<string, readonly Manifest[]>()
    folders.set(snapshot, others.set(folder, rendered))
    return rendered
  }
}

interface For {
  signal: AbortSignal | undefined
  tenant: string | undefined
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

function digestOf(folder: string, files: readonly SourceFile[]): string {
  const hash = createHash('sha256').update(`${folder}\0`)
  for (const { source, data, link } of files) hash.update(`${source}\0${link ?? ''}\0${data.length}\0`).update(data)
  return hash.digest('hex')
}
