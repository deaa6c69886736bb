import type { ManifestProject } from '../../agentcfg/index.ts'
import {
  type Capabilities,
  folderOf,
  type Manifest,
  pathIn,
  patternsFor,
  type ReadFiles,
  type Render,
  type Snapshot,
  type SourceFile,
  valueFileIn,
} from '../../engines/render/index.ts'
import { Failure, isFailure, type ReadYaml, withoutEnd } from '../../std/index.ts'

type Paths = Pick<ManifestProject, 'globs' | 'kustomize' | 'charts'>

/** All patterns that kas must be asked for, as far as the files show; more may turn up with the next ones. */
export async function patternsOf({ globs, ...paths }: Paths, files: readonly SourceFile[], yaml: ReadYaml): Promise<string[]> {
  return [...globs, ...withoutInner(await renderedPatterns(paths, files, yaml))]
}

/** Of what is rendered, and holds no manifests by itself. */
async function renderedPatterns(
  { kustomize, charts }: Omit<Paths, 'globs'>,
  files: readonly SourceFile[],
  yaml: ReadYaml,
): Promise<string[]> {
  const folders = kustomize.map((folder) => reachOf(folder, files, yaml))
  const ofCharts = charts.map(({ folder, valueFiles }) =>
    patternsFor(
      [],
      folder,
      yaml,
      valueFiles.map((file) => valueFileIn(folderOf(folder), file)),
    ),
  )
  return (await Promise.all([...folders, ...ofCharts])).flat()
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
  /** Of folders with a kustomization or a chart. */
  render: Render
  readFiles: ReadFiles
  /** Of the cluster that the agent is in. */
  capabilities(): Promise<Capabilities>
}

/** The objects of a project. A file that a kustomization reads is no manifest by itself. */
export function renderingOf(
  { globs, kustomize, charts, defaultNamespace: namespace }: Paths & Pick<ManifestProject, 'defaultNamespace'>,
  { render, readFiles, capabilities }: Renderers,
  yaml: ReadYaml,
): (snapshot: Snapshot, signal?: AbortSignal) => Promise<readonly Manifest[]> {
  return async (snapshot, signal) => {
    const manifests: Manifest[] = []
    for (const folder of kustomize) {
      assertKustomization(snapshot, folder)
      manifests.push(...(await render(snapshot, folder, { signal })))
    }
    for (const { folder, ...chart } of charts) {
      const settings = { ...chart, namespace, values: [], isExpected: true, capabilities }
      manifests.push(...(await render(snapshot, folder, { signal, chart: settings })))
    }
    if (globs.length === 0) return manifests
    const patterns = await renderedPatterns({ kustomize, charts }, snapshot.files, yaml)
    const paths = patterns.map(pathIn)
    const plain = snapshot.files.filter(({ source }) => !paths.some((path) => covers(path, source)))
    manifests.push(...(await readFiles(plain)))
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
