import { beginningOf, isRecord, type ReadYaml } from '../../std/index.ts'
import type { Renderer, RunConfined } from './confined.ts'
import { folderOf, isLink, refused, resolvePath, type Snapshot, type SourceFile, withinAny } from './source.ts'

/** What a chart can ask of the cluster that it is for: `.Capabilities`. */
export interface Capabilities {
  /** `v1.36.0` */
  kubeVersion: string
  /** `apps/v1` and `apps/v1/Deployment`. */
  apiVersions: readonly string[]
}

/** What `helm template` is told beside the chart. https://helm.sh/docs/helm/helm_template/ */
export interface ChartSettings {
  releaseName: string
  namespace: string
  /** As written, from the chart's folder; later ones win. */
  valueFiles: readonly string[]
  /** YAML mappings that win over the files; later ones win. `from` is where somebody finds the text. */
  values: readonly { from: string; text: string }[]
  skipCrds: boolean
  /** Whether the path must hold a chart, because somebody wrote how to render it. */
  isExpected: boolean
  /** Asked for only where there is a chart. */
  capabilities(): Promise<Capabilities>
}

/** A chart with all that decides what it renders to. */
export interface Chart {
  folder: string
  files: readonly SourceFile[]
  /** In the order in which they count. */
  valueFiles: readonly SourceFile[]
  /** The values that win over those, as JSON; empty where there are none. */
  values: string
  settings: ChartSettings
  capabilities: Capabilities
}

const MANIFEST = 'Chart.yaml'

export const isChart = (files: readonly SourceFile[], folder: string): boolean => {
  const path = placeIn(folder, MANIFEST)
  return files.some(({ source }) => source === path)
}

/** Helm makes names of objects of it. https://helm.sh/docs/chart_template_guide/builtin_objects/ */
const LONGEST_NAME = 53

/** The files of a chart: all in its folder, and those with values, wherever they are in the repository. */
export async function chartIn({ files }: Snapshot, folder: string, settings: ChartSettings, yaml: ReadYaml): Promise<Chart> {
  const { releaseName, valueFiles } = settings
  if (releaseName.length > LONGEST_NAME)
    throw refused(
      `the name of the release ${JSON.stringify(releaseName)} has ${releaseName.length} characters, and Helm takes ${LONGEST_NAME}`,
      'Give the release a shorter name.',
    )
  const named = valueFiles.map((written) => ({ written, path: valueFileIn(folder, written) }))
  const isWanted = withinAny([folder, ...named.map(({ path }) => path)])
  const wanted = files.filter(({ source }) => isWanted(source))
  const link = wanted.find((file) => file.link !== undefined)
  if (link) throw isLink(link)
  const byPath = new Map(wanted.map((file) => [file.source, file]))
  const absent = named.find(({ path }) => !byPath.has(path))
  if (absent)
    throw refused(
      `the file with values ${JSON.stringify(absent.written)} is not in the repository: there is no ${absent.path}`,
      'Paths begin in the folder of the chart; correct the path or commit the file.',
    )
  const valueFilesFound = named.flatMap(({ path }) => byPath.get(path) ?? [])
  for (const file of [byPath.get(placeIn(folder, 'values.yaml')), ...valueFilesFound])
    if (file) refuseEncrypted(file.source, file.data)
  return {
    folder,
    files: wanted.sort((a, b) => (a.source < b.source ? -1 : 1)),
    valueFiles: valueFilesFound,
    values: await mergedValues(settings, yaml),
    settings,
    capabilities: await settings.capabilities(),
  }
}

/** helm would take what is encrypted for the values themselves. */
function refuseEncrypted(from: string, data: Uint8Array | string): void {
  if (!Buffer.from(data).includes('ENC[AES256_GCM,')) return
  throw refused(
    `${from}: is encrypted with SOPS, and values for a chart are not decrypted`,
    'Give what is secret as valuesFrom a Secret, which may be encrypted itself.',
  )
}

/** `prod.yaml` and `../values/prod.yaml` begin in the folder of the chart. */
export const valueFileIn = (folder: string, written: string): string => resolvePath(folder, written, 'a file with values')

/** In one text, so that values that come from Secrets reach helm without being written into a file. */
async function mergedValues({ values }: ChartSettings, yaml: ReadYaml): Promise<string> {
  let merged: Record<string, unknown> | undefined
  for (const { from, text } of values) {
    refuseEncrypted(from, text)
    const { documents, problem } = await yaml(text)
    if (problem) throw refused(`${from}: line ${problem.line}: ${problem.message}`)
    const [first, ...others] = documents.map(({ value }) => value).filter((value) => value !== null && value !== undefined)
    if (first === undefined) continue
    if (!isRecord(first) || others.length > 0)
      throw refused(`${from}: must be one YAML mapping, and is ${sayKind(first, others)}`)
    merged = withValues(merged ?? {}, first)
  }
  return merged ? JSON.stringify(merged) : ''
}

/** As Helm merges files: mappings with mappings, and everything else in the place of what was there. */
function withValues(before: Record<string, unknown>, more: Record<string, unknown>): Record<string, unknown> {
  const merged = new Map(Object.entries(before))
  for (const [key, value] of Object.entries(more)) {
    const last = merged.get(key)
    merged.set(key, isRecord(last) && isRecord(value) ? withValues(last, value) : value)
  }
  return Object.fromEntries(merged)
}

const sayKind = (first: unknown, others: readonly unknown[]): string =>
  others.length > 0 ? `${others.length + 1} documents` : beginningOf(JSON.stringify(first), 40)

/** The templates of a chart in the path that ask a cluster for objects, and find none here; those in archives are not looked at. */
export function lookupsIn({ files }: Snapshot, path: string): string[] {
  const folder = folderOf(path)
  if (!isChart(files, folder)) return []
  const isWithin = withinAny([folder])
  return files
    .filter((file) => isWithin(file.source) && file.source.includes('templates/') && asksCluster(file))
    .map(({ source }) => source)
}

/** Between the braces of a template. */
const asksCluster = ({ data }: SourceFile): boolean => {
  const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('latin1')
  return text.includes('lookup') && text.split('{{').some((part) => /\blookup\s/.test(part.split('}}', 1)[0] ?? ''))
}

/** Renders a chart with helm. */
export type Helm = (chart: Chart, signal?: AbortSignal) => Promise<string>

/** The real `helm template`: without a cluster, `lookup` finds nothing. Tests of the chart are nothing to be kept, and left out. */
export function createHelm(path: string, run: RunConfined): Helm {
  const program: Renderer = {
    path,
    name: 'helm',
    rendered: 'chart',
    suspect: 'loops',
    isWordy: true,
    absent: { reason: 'HelmNotFound', remedy: 'Install Helm 4, or give the operator its full path (--helm)' },
  }
  return ({ folder, files, valueFiles, values, settings, capabilities }, signal) => {
    const { releaseName, namespace, skipCrds } = settings
    // Helm takes a comma in the name of a file for the end of one and the beginning of another.
    const parameters = (at: (inside: string) => string, beside: (index: number) => string) => [
      ...['template', releaseName, at(folder), '--namespace', namespace, '--skip-tests'],
      ...(skipCrds ? [] : ['--include-crds']),
      ...valueFiles.flatMap((_, index) => ['--values', beside(index)]),
      ...(values === '' ? [] : ['--values', '-']),
      ...['--kube-version', capabilities.kubeVersion],
      ...capabilities.apiVersions.flatMap((version) => ['--api-versions', version]),
    ]
    return run(program, { files, beside: valueFiles.map(({ data }) => data), parameters, input: values, signal })
  }
}

interface Part {
  /** The template's file, where helm names one. */
  source: string
  text: string
}

/** What helm printed, with the file of the repository that each part came from. */
export function templatesIn(printed: string, folder: string): Part[] {
  const parts: Part[] = []
  for (const text of printed.split(/^---\n(?=# Source: )/m)) {
    const named = /^# Source: ([^/\n]{1,300})\/([^\n]{1,1000})/.exec(text)?.[2]
    if (text.trim() !== '') parts.push({ source: named === undefined ? folder : placeIn(folder, named), text })
  }
  return parts
}

const placeIn = (folder: string, path: string): string => (folder === '' ? path : `${folder}/${path}`)
