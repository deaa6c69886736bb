import { createYamlTreeReader, Failure, type ReadYaml, type ReadYamlTree } from '../../std/index.ts'
import { createReader, type Found, type Reader } from './documents.ts'
import { checkRendered, type Manifest } from './manifest.ts'
import { sealedIn, withFiles } from './sealed.ts'
import { checkPath, isLink, LIMITS, refused, type SourceFile, textIn } from './source.ts'

/** All objects in these files, for whoever chose them by himself; a kustomization among them is a file like any other. */
export type ReadFiles = (files: readonly SourceFile[]) => Promise<readonly Manifest[]>

export function createFileReader(yaml: ReadYaml): ReadFiles {
  const known = new WeakMap<SourceFile, Found>()
  const reader = createReader(yaml)
  const yamlTree = createYamlTreeReader()
  return async (files) => {
    for (const { source } of files) checkPath(source)
    const link = files.find((file) => file.link !== undefined)
    if (link) throw isLink(link)
    const { manifests, problems } = await plainFiles(files, { reader, known, yamlTree })
    return checkRendered(manifests, problems)
  }
}

interface Reading {
  reader: Reader
  known: WeakMap<SourceFile, Found>
  /** For files that are encrypted. */
  yamlTree: ReadYamlTree
  tenant?: string | undefined
}

export async function plainFiles(files: readonly SourceFile[], reading: Reading): Promise<Found> {
  const manifests: Manifest[] = []
  const problems: string[] = []
  for (const file of files) {
    if (!IS_MANIFEST.test(file.source)) continue
    const found = reading.known.get(file) ?? (await plainFile(file, reading))
    reading.known.set(file, found)
    for (const manifest of found.manifests) manifests.push(manifest)
    for (const problem of found.problems) problems.push(problem)
  }
  return { manifests, problems }
}

const IS_CHART = /(^|\/)Chart\.yaml$/
const IS_MANIFEST = /\.(ya?ml|json)$/i

async function plainFile(file: SourceFile, { reader, yamlTree, tenant }: Reading): Promise<Found> {
  const { source, data } = file
  if (data.length > LIMITS.fileBytes)
    throw new Failure('too-large', `${source}: is larger than ${LIMITS.fileBytes} bytes`, {
      reason: 'FileTooLarge',
      remedy: 'Make several files of it, or keep it outside of the path.',
    })
  const { text, fault } = textIn(file)
  if (fault !== undefined) return { manifests: [], problems: [`${source}:${fault.line}: ${fault.what}`] }
  const found = await reader.read(source, text, { tenant })
  // Its values and templates are no manifests either: one sentence says more than a hundred mistakes.
  if (found.problems.length > 0 && IS_CHART.test(source))
    throw refused(
      `${source}: is that of a Helm chart, and a chart is rendered only where the path is its own folder`,
      'Name the folder of the chart in the path, or commit what `helm template` makes of it.',
    )
  if (!found.manifests.some(({ sealed }) => sealed !== undefined)) return found
  return { ...found, manifests: [...withFiles(found.manifests, await sealedIn(file, yamlTree, tenant))] }
}
