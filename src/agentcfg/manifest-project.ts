import type { GitopsCF, ManifestProjectCF } from '../rpc/index.ts'
import { seconds } from '../std/index.ts'

/** A manifest project with everything said: what its agent does. */
export interface ManifestProject {
  /** Path of the GitProject. */
  readonly id: string
  readonly ref: { readonly kind: 'default' } | { readonly kind: 'tag' | 'branch' | 'commit'; readonly name: string }
  /** For objects without a namespace, and for the inventory. */
  readonly defaultNamespace: string
  readonly globs: readonly string[]
  /** Folders with a kustomization. */
  readonly kustomize: readonly string[]
  /** Milliseconds to wait for applied objects. */
  readonly reconcileTimeout: number
  readonly dryRun: 'none' | 'client' | 'server'
  readonly prune: boolean
  /** Milliseconds to wait for deletions. */
  readonly pruneTimeout: number
  readonly prunePropagation: 'orphan' | 'background' | 'foreground'
  readonly inventoryPolicy: 'must_match' | 'adopt_if_no_inventory' | 'adopt_all'
  /** What becomes of the objects when the project leaves the list. */
  readonly deletion: 'orphan' | 'delete'
}

const HOUR = 3600n
const EVERYTHING = '**/*.{yaml,yml,json}'

/** `projectPath`: of the project that the configuration is in. In namespaced mode the first namespace is the default one. */
export const manifestProjects = (gitops: GitopsCF | undefined, projectPath: string): ManifestProject[] =>
  (gitops?.manifestProjects ?? []).map((project) => manifestProject(project, projectPath, gitops?.namespaces[0] ?? 'default'))

function manifestProject(project: ManifestProjectCF, projectPath: string, home: string): ManifestProject {
  const globs = project.paths.map(({ glob }) => glob).filter((glob) => glob !== '')
  const kustomize = project.paths.map((path) => path.kustomize).filter((folder) => folder !== '')
  return {
    id: project.id ?? projectPath,
    ref: refOf(project),
    defaultNamespace: project.defaultNamespace || home,
    globs: project.paths.length === 0 ? [EVERYTHING] : globs,
    kustomize,
    reconcileTimeout: milliseconds(project.reconcileTimeout?.seconds ?? HOUR, project.reconcileTimeout?.nanos),
    // What cannot be meant changes nothing in the cluster.
    dryRun: oneOf(['none', 'client', 'server'], project.dryRunStrategy || 'none') ?? 'client',
    prune: project.pruneOneof.value ?? true,
    pruneTimeout: milliseconds(project.pruneTimeout?.seconds ?? HOUR, project.pruneTimeout?.nanos),
    prunePropagation: oneOf(['orphan', 'background', 'foreground'], project.prunePropagationPolicy) ?? 'foreground',
    inventoryPolicy: oneOf(['must_match', 'adopt_if_no_inventory', 'adopt_all'], project.inventoryPolicy) ?? 'must_match',
    deletion: oneOf(['orphan', 'delete'], project.deletion) ?? 'orphan',
  }
}

function refOf({ ref }: ManifestProjectCF): ManifestProject['ref'] {
  const said = ref?.ref
  return said?.case ? { kind: said.case, name: said.value } : { kind: 'default' }
}

const milliseconds = (whole: bigint, nanos = 0): number => seconds(Number(whole)) + Math.round(nanos / 1e6)

const oneOf = <const T extends string>(words: readonly T[], given: string): T | undefined => words.find((word) => word === given)
