import type { ManifestProject } from '../../agentcfg/index.ts'
import {
  type Manifest,
  pathIn,
  patternsFor,
  type ReadFiles,
  type Render,
  type Snapshot,
  type SourceFile,
} from '../../engines/render/index.ts'
import { Failure, isFailure, type ReadYaml, withoutEnd } from '../../std/index.ts'

type Paths = Pick<ManifestProject, 'globs' | 'kustomize'>

/** All patterns that kas must be asked for, as far as the files show; more may turn up with the next ones. */
export async function patternsOf({ globs, kustomize }: Paths, files: readonly SourceFile[], yaml: ReadYaml): Promise<string[]> {
  const found = await Promise.all(kustomize.map((folder) => reachOf(folder, files, yaml)))
  return [...globs, ...withoutInner(found.flat())]
}

/** The files that a folder with a kustomization reads. One that cannot be followed is left to the rendering, which says why. */
async function reachOf(folder: string, files: readonly SourceFile[], yaml: ReadYaml): Promise<string[]> {
  try {
    return await patternsFor(files, folder, yaml)
  } catch (thrown) {
    if (!isFailure(thrown, 'invalid', 'too-large')) throw thrown
    return patternsFor([], folder, yaml)
  }
}

/** kas refuses two patterns for one file. */
function withoutInner(patterns: readonly string[]): string[] {
  const all = [...new Set(patterns)].sort()
  return all.filter((one) => !all.some((other) => other !== one && covers(other, one)))
}

const covers = (pattern: string, path: string): boolean =>
  pattern === path || pattern === '**' || (pattern.endsWith('/**') && path.startsWith(pattern.slice(0, -2)))

export interface Renderers {
  /** Of folders with a kustomization. */
  kustomize: Render
  readFiles: ReadFiles
}

/** The objects of a project. A file that a kustomization reads is no manifest by itself. */
export function renderingOf(
  { globs, kustomize }: Paths,
  renderers: Renderers,
  yaml: ReadYaml,
): (snapshot: Snapshot, signal?: AbortSignal) => Promise<readonly Manifest[]> {
  return async (snapshot, signal) => {
    const manifests: Manifest[] = []
    for (const folder of kustomize) {
      assertKustomization(snapshot, folder)
      manifests.push(...(await renderers.kustomize(snapshot, folder, { signal })))
    }
    if (globs.length === 0) return manifests
    const patterns = (await Promise.all(kustomize.map((folder) => reachOf(folder, snapshot.files, yaml)))).flat()
    const paths = patterns.map(pathIn)
    const plain = snapshot.files.filter(({ source }) => !paths.some((path) => covers(path, source)))
    manifests.push(...(await renderers.readFiles(plain)))
    return manifests
  }
}

const NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

function assertKustomization({ files, commitId }: Snapshot, folder: string): void {
  const within = withoutEnd(folder.replace(/^(\.?\/)+/, ''), '/').replace(/^\.$/, '')
  const wanted = NAMES.map((name) => (within === '' ? name : `${within}/${name}`))
  if (files.some(({ source }) => wanted.includes(source))) return
  throw new Failure(
    'invalid',
    `paths[].kustomize ${JSON.stringify(folder)} holds no kustomization in commit ${commitId.slice(0, 12)}`,
    {
      reason: 'PathNotFound',
      remedy: 'Correct the path, or push a kustomization.yaml there.',
    },
  )
}
