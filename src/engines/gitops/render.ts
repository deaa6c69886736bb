import { createHash } from 'node:crypto'
import { createTurnstile, createYamlReader, Failure, type ReadYaml } from '../../std/index.ts'
import { createReader, type Found, type Reader } from './documents.ts'
import { kustomizationIn, reachOf } from './kustomization.ts'
import { KUSTOMIZE_LIMITS, type KustomizeLimits, kustomize } from './kustomize.ts'
import { checkRendered, type Manifest } from './manifest.ts'
import { createMemory } from './memory.ts'
import { checkPath, folderOf, isBelow, isLink, LIMITS, refused, type Snapshot, type SourceFile } from './source.ts'

export interface RendererOptions {
  /** The kubectl program; it contains kustomize. */
  kubectl: string
  limits?: Partial<KustomizeLimits>
}

/** Turns files into objects. The same files give the same objects, without running anything again. */
export type Render = (snapshot: Snapshot, path: string, signal?: AbortSignal) => Promise<readonly Manifest[]>

/** Bytes of files whose objects are remembered. */
const MOST = 64 * 2 ** 20
/** Each runs on more than one core by itself. */
const KUSTOMIZE_AT_ONCE = 2

export function createRenderer({ kubectl, limits }: RendererOptions): Render {
  const known = createMemory<readonly Manifest[]>(MOST)
  const yaml = createYamlReader()
  const reader = createReader(yaml)
  const turnstile = createTurnstile(KUSTOMIZE_AT_ONCE)
  const all = { ...KUSTOMIZE_LIMITS, ...limits }
  return async (snapshot, path, signal) => {
    const folder = folderOf(path)
    const files = await needed(snapshot, folder, yaml)
    const key = digestOf(folder, files)
    const before = known.get(key)
    if (before) return before
    const byPath = new Map(files.map((file) => [file.source, file]))
    const { manifests, problems } = kustomizationIn(byPath, folder)
      ? await reader.read(
          `in what kustomize made of ${folder || '.'}`,
          await turnstile(() => kustomize(kubectl, files, folder, all, signal)),
          { withoutLines: true },
        )
      : await plainFiles(files, reader)
    const rendered = checkRendered(manifests, problems)
    known.set(
      key,
      rendered,
      files.reduce((sum, { data }) => sum + data.length, 0),
    )
    return rendered
  }
}

/** The files that the result depends on, checked: nothing else may change it. */
async function needed(snapshot: Snapshot, folder: string, yaml: ReadYaml): Promise<SourceFile[]> {
  const byPath = new Map(snapshot.files.map((file) => [checkPath(file.source), file]))
  const { paths, missing } = await reachOf(byPath, folder, yaml)
  const wanted = [...paths, ...missing.map(({ path }) => path)]
  const link = snapshot.files.find((file) => file.link !== undefined && wanted.some((path) => touches(file.source, path)))
  if (link) throw isLink(link)
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

/** It lies below the path, or the path lies behind it. */
const touches = (link: string, path: string): boolean => isBelow(link, path) || isBelow(path, link)

async function plainFiles(files: readonly SourceFile[], reader: Reader): Promise<Found> {
  const manifests: Manifest[] = []
  const problems: string[] = []
  for (const { source, data } of files.filter((file) => /\.(ya?ml|json)$/i.test(file.source))) {
    if (data.length > LIMITS.fileBytes)
      throw new Failure('too-large', `${source}: is larger than ${LIMITS.fileBytes} bytes`, { reason: 'FileTooLarge' })
    const read = await reader.read(source, Buffer.from(data).toString('utf8'))
    manifests.push(...read.manifests)
    problems.push(...read.problems)
  }
  return { manifests, problems }
}

function digestOf(folder: string, files: readonly SourceFile[]): string {
  const hash = createHash('sha256').update(`${folder}\0`)
  for (const { source, data, link } of files) hash.update(`${source}\0${link ?? ''}\0${data.length}\0`).update(data)
  return hash.digest('hex')
}
