import type { AgentConfiguration, GitRef, ManifestProjectCF } from '../rpc/index.ts'
import { Failure, seconds } from '../std/index.ts'

/** A manifest project with all its defaults. Two that are equal as JSON are the same. */
export interface ManifestProject {
  /** Full path. */
  readonly id: string
  readonly ref: GitRef
  readonly defaultNamespace: string
  readonly globs: readonly string[]
  /** Folders with a kustomization. */
  readonly kustomize: readonly string[]
  readonly charts: readonly ChartPath[]
  readonly prune: boolean
  /** As the API server writes it. */
  readonly propagation: 'Orphan' | 'Background' | 'Foreground'
  readonly inventoryPolicy: InventoryPolicy
  readonly dryRun: 'none' | 'client' | 'server'
  /** After which objects that are not ready are told as a fault. Milliseconds. */
  readonly reconcileTimeout: number
  /** The same of objects that are being deleted. */
  readonly pruneTimeout: number
  /** Decides about its objects when it leaves the list. */
  readonly deletion: 'orphan' | 'delete'
  /** Of all projects of the configuration; empty: no limit. */
  readonly namespaces: readonly string[]
  readonly allowedKinds: readonly { readonly group: string; readonly kind: string }[]
}

/** A Helm chart in the repository. */
export interface ChartPath {
  readonly folder: string
  readonly releaseName: string
  /** From the folder; later ones win. */
  readonly valueFiles: readonly string[]
  readonly skipCrds: boolean
}

type PathCF = ManifestProjectCF['paths'][number]
type ChartCF = NonNullable<PathCF['chart']>

const POLICIES = ['must_match', 'adopt_if_no_inventory', 'adopt_all'] as const
export type InventoryPolicy = (typeof POLICIES)[number]

const ALL = ['**/*.{yaml,yml,json}']
const HOUR = seconds(3600)
/** kas refuses more. */
const MOST_PATHS = 100
const MOST_PROJECTS = 500
const PROPAGATIONS = { orphan: 'Orphan', background: 'Background', foreground: 'Foreground' } as const

/**
 * The whole list, or a failure that names the first thing that is wrong in it: a kas of GitLab does not check as ours does. Pure.
 * In namespaced mode the first namespace is the default one.
 */
export function manifestProjects({ gitops, projectPath }: Pick<AgentConfiguration, 'gitops' | 'projectPath'>): ManifestProject[] {
  const list = gitops?.manifestProjects ?? []
  if (list.length > MOST_PROJECTS)
    throw wrong('gitops.manifest_projects', `has ${list.length} entries; at most ${MOST_PROJECTS} are followed`)
  const namespaces = (gitops?.namespaces ?? []).map((name, at) => namespaceName(name, `gitops.namespaces[${at}]`))
  const allowedKinds = (gitops?.allowedKinds ?? []).map(({ group, kind }) => ({ group, kind }))
  const projects = list.map((one, at) =>
    projectFrom(one, { at: `gitops.manifest_projects[${at}]`, fallback: projectPath, namespaces, allowedKinds }),
  )
  const seen = new Set<string>()
  for (const { id } of projects) {
    if (seen.has(id)) throw wrong('gitops.manifest_projects', `names ${id} twice: duplicate source id`)
    seen.add(id)
  }
  return projects
}

interface Around extends Pick<ManifestProject, 'namespaces' | 'allowedKinds'> {
  /** Where it stands. */
  at: string
  /** Path of the project that the configuration is in. */
  fallback: string
}

function projectFrom(one: ManifestProjectCF, { at, fallback, namespaces, allowedKinds }: Around): ManifestProject {
  const { paths, pruneOneof } = one
  const id = one.id || fallback
  if (id === '') throw wrong(`${at}.id`, 'is missing, and kas does not say which project the configuration is in')
  if (paths.length > MOST_PATHS) throw wrong(`${at}.paths`, `has ${paths.length} entries; at most ${MOST_PATHS} are read`)
  const isOne = ({ glob, kustomize, chart }: PathCF) => [glob, kustomize, chart].filter(Boolean).length === 1
  const odd = paths.findIndex((path) => !isOne(path))
  if (odd >= 0) throw wrong(`${at}.paths[${odd}]`, 'must have a glob, a kustomize or a chart, and only one of them')
  const folders = paths.flatMap((path, index) =>
    path.kustomize === '' ? [] : [folderIn(path.kustomize, `${at}.paths[${index}].kustomize`)],
  )
  const charts = paths.flatMap(({ chart }, index) => (chart ? [chartFrom(chart, id, `${at}.paths[${index}].chart`)] : []))
  const globs = paths.flatMap(({ glob }) => (glob === '' ? [] : [glob.replace(/^\//, '')]))
  return {
    id,
    ref: refOf(one, at),
    defaultNamespace: defaultNamespace(one.defaultNamespace, at, namespaces),
    globs: paths.length === 0 ? ALL : globs,
    kustomize: folders,
    charts,
    prune: pruneOneof.case === 'prune' ? pruneOneof.value : true,
    propagation:
      PROPAGATIONS[oneOf(one.prunePropagationPolicy, ['foreground', 'background', 'orphan'], `${at}.prune_propagation_policy`)],
    inventoryPolicy: oneOf(one.inventoryPolicy, POLICIES, `${at}.inventory_policy`),
    dryRun: dryRunOf(one.dryRunStrategy),
    reconcileTimeout: millisecondsOf(one.reconcileTimeout),
    pruneTimeout: millisecondsOf(one.pruneTimeout),
    deletion: oneOf(one.deletion, ['orphan', 'delete'], `${at}.deletion`),
    namespaces,
    allowedKinds,
  }
}

function folderIn(written: string, at: string): string {
  const folder = written.replace(/^\//, '')
  if (!/[\\\0]/.test(folder) && !folder.split('/').includes('..')) return folder
  throw wrong(
    at,
    `is ${JSON.stringify(written.slice(0, 80))}, which is no folder inside the repository; write it like overlays/prod`,
  )
}

function chartFrom({ path, releaseName, valueFiles, skipCrds }: ChartCF, project: string, at: string): ChartPath {
  const folder = folderIn(path, `${at}.path`)
  const [name] = `${project}/${folder}`
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .slice(-1)
  return { folder, releaseName: releaseName || (name ?? ''), valueFiles: [...valueFiles], skipCrds }
}

/** In namespaced mode the inventory lies in one of the namespaces too. */
function defaultNamespace(given: string, at: string, namespaces: readonly string[]): string {
  const name = given === '' ? (namespaces[0] ?? 'default') : namespaceName(given, `${at}.default_namespace`)
  if (namespaces.length === 0 || namespaces.includes(name)) return name
  throw wrong(`${at}.default_namespace`, `is ${name}, which is not among gitops.namespaces (${namespaces.join(', ')})`)
}

function namespaceName(given: string, field: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(given)) return given
  throw wrong(field, `is ${JSON.stringify(given.slice(0, 80))}, which is no name of a namespace`)
}

function refOf({ ref }: ManifestProjectCF, at: string): GitRef {
  if (!ref) return { kind: 'default' }
  const { case: kind, value: name } = ref.ref
  if (kind === undefined || name === '') throw wrong(`${at}.ref`, 'must name a tag, a branch or a commit')
  return { kind, name }
}

/** An empty text stands for the first. */
function oneOf<T extends string>(given: string, values: readonly [T, ...T[]], field: string): T {
  if (given === '') return values[0]
  const found = values.find((value) => value === given)
  if (found) return found
  throw wrong(field, `is ${JSON.stringify(given.slice(0, 80))}; it may be ${values.join(', ')}`)
}

/** An unknown strategy is taken for the one that changes nothing. */
const dryRunOf = (given: string): ManifestProject['dryRun'] =>
  given === '' || given === 'none' ? 'none' : given === 'server' ? 'server' : 'client'

const millisecondsOf = (given: { seconds: bigint; nanos: number } | undefined): number =>
  given ? Number(given.seconds) * 1000 + given.nanos / 1e6 : HOUR

const wrong = (field: string, what: string) => new Failure('invalid', `${field} ${what}`, { reason: 'ConfigurationInvalid' })
