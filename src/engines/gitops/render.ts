import { createHash } from 'node:crypto'
import { Failure } from '../../std/index.ts'
import { kustomizationIn, reachOf } from './kustomization.ts'
import { KUSTOMIZE_LIMITS, type KustomizeLimits, kustomize } from './kustomize.ts'
import { checkRendered, type Manifest, manifestsOf } from './manifest.ts'
import { checkPath, folderOf, isBelow, LIMITS, refused, type Snapshot, type SourceFile } from './source.ts'

export interface RendererOptions {
  /** The kubectl program; it contains kustomize. */
  kubectl: string
  limits?: Partial<KustomizeLimits>
  /** How many results are remembered. */
  remember?: number
}

/** Turns files into objects. The same files give the same objects, without running anything again. */
export type Render = (snapshot: Snapshot, path: string, signal?: AbortSignal) => Promise<readonly Manifest[]>

export function createRenderer({ kubectl, limits, remember = 64 }: RendererOptions): Render {
  const known = new Map<string, readonly Manifest[]>()
  return async (snapshot, path, signal) => {
    const folder = folderOf(path)
    const files = needed(snapshot, folder)
    const key = digestOf(folder, files)
    const manifests = known.get(key) ?? (await build(kubectl, files, folder, { ...KUSTOMIZE_LIMITS, ...limits }, signal))
    known.delete(key)
    known.set(key, manifests)
    for (const oldest of known.keys()) {
      if (known.size <= remember) break
      known.delete(oldest)
    }
    return manifests
  }
}

/** The files that the result depends on, checked: nothing else may change it. */
function needed(snapshot: Snapshot, folder: string): SourceFile[] {
  const byPath = new Map(snapshot.files.map((file) => [checkPath(file.source), file]))
  const { paths, missing } = reachOf(byPath, folder)
  const [absent] = missing
  if (absent)
    throw refused(
      `${absent.from}: ${JSON.stringify(absent.written)} is not in the repository`,
      'Remote bases are not fetched; correct the path or commit the file.',
    )
  const files = snapshot.files.filter((file) => paths.some((path) => isBelow(file.source, path)))
  if (files.length === 0) {
    const reason = { reason: 'PathNotFound', remedy: 'Correct spec.source.path, or push files there.' }
    throw new Failure(
      'invalid',
      `path ${JSON.stringify(folder || '.')} holds no files in commit ${snapshot.commitId.slice(0, 12)}`,
      reason,
    )
  }
  return files.sort((a, b) => (a.source < b.source ? -1 : 1))
}

function build(kubectl: string, files: readonly SourceFile[], folder: string, limits: KustomizeLimits, signal?: AbortSignal) {
  const byPath = new Map(files.map((file) => [file.source, file]))
  return kustomizationIn(byPath, folder) ? overlay(kubectl, files, folder, limits, signal) : Promise.resolve(plainFiles(files))
}

async function overlay(
  kubectl: string,
  files: readonly SourceFile[],
  folder: string,
  limits: KustomizeLimits,
  signal?: AbortSignal,
) {
  const output = await kustomize(kubectl, files, folder, limits, signal)
  const { manifests, problems } = manifestsOf(`${folder || '.'} (kustomize)`, output)
  return checkRendered(manifests, problems)
}

function plainFiles(files: readonly SourceFile[]): readonly Manifest[] {
  const manifests: Manifest[] = []
  const problems: string[] = []
  for (const file of files.filter(({ source }) => /\.(ya?ml|json)$/i.test(source))) {
    const found = fromFile(file)
    manifests.push(...found.manifests)
    problems.push(...found.problems)
  }
  return checkRendered(manifests, problems)
}

function fromFile({ source, data, link }: SourceFile): ReturnType<typeof manifestsOf> {
  if (link !== undefined) throw refused(`${source}: is a symbolic link`, 'Commit the file itself.')
  if (data.length > LIMITS.fileBytes)
    throw new Failure('too-large', `${source}: is larger than ${LIMITS.fileBytes} bytes`, { reason: 'FileTooLarge' })
  return manifestsOf(source, Buffer.from(data).toString('utf8'))
}

function digestOf(folder: string, files: readonly SourceFile[]): string {
  const hash = createHash('sha256').update(`${folder}\0`)
  for (const { source, data, link } of files) hash.update(`${source}\0${link ?? ''}\0${data.length}\0`).update(data)
  return hash.digest('hex')
}
