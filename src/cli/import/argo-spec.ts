import type { GitOpsDeploymentSpec, Ref } from '../../api/index.ts'
import {
  type ClusterDestination,
  deletionOf,
  HERE,
  type ImportedSource,
  ignoreOf,
  sourceOf,
  syncSpecOf,
} from './argo-application.ts'
import { type Windowed, windowsFor } from './argo-windows.ts'
import { type FieldReading, type ForeignFields, hintsBy, readFields } from './fields.ts'
import type { ForeignObject, ImportChoices } from './imported.ts'
import { type Environments, elsewhere, type MadeProjects, type Names } from './made.ts'
import { ARGO_NAMESPACE } from './parents.ts'

/** Of an object in a file that does not say it. */
export const NAMESPACE = ARGO_NAMESPACE

/** What is asked of while objects of Argo CD are read. */
export interface World extends ImportChoices {
  projects: MadeProjects
  names: Names
  /** Of sets, which have names of their own. */
  sets: Names
  environments: Environments
  appProjects: readonly ForeignObject[]
  /** All that were given. */
  applications: readonly Ref[]
}

/** What an Application asks for, or the template of an ApplicationSet. */
export interface AskedFor {
  /** Nothing where Berth follows no such source. */
  source: ImportedSource | undefined
  rest: Omit<GitOpsDeploymentSpec, 'source'>
}

export interface About {
  name: string
  finalizers?: string[] | undefined
  annotations?: Record<string, string> | undefined
  destination: ClusterDestination
  isTemplate?: boolean
}

export function askedFor(spec: ForeignFields, about: About, world: World): AskedFor {
  const { name, finalizers, annotations = {}, destination, isTemplate = false } = about
  const source = sourceOf(spec, isTemplate)
  const windowed = { name, namespace: destination.namespace ?? '', clusters: destination.isHere ? HERE : [destination.cluster] }
  const rest = {
    ...destinationSpec(spec, destination, world),
    ...syncSpecOf(spec),
    ...ignoreOf(spec),
    ...deletionOf(finalizers),
    ...windowsOf(spec, windowed, world),
  }
  tellAnnotations(annotations, spec)
  spec.pass('revisionHistoryLimit', 'info')
  return { source, rest }
}

/** All but the spec is no wish of anybody. */
export function specIn({ root }: FieldReading): ForeignFields {
  root.pass('apiVersion', 'kind', 'metadata', 'status', 'operation')
  return root.record('spec') ?? root
}

function destinationSpec(
  spec: ForeignFields,
  { namespace, cluster, isHere }: ClusterDestination,
  { environments }: World,
): Pick<GitOpsDeploymentSpec, 'destination'> {
  if (isHere || cluster === '') return {}
  return elsewhere(spec, 'destination', { cluster, environment: environments.named(cluster), namespace })
}

function windowsOf(spec: ForeignFields, windowed: Windowed, { appProjects }: World): Pick<GitOpsDeploymentSpec, 'syncWindows'> {
  const name = spec.text('project') ?? 'default'
  const project = appProjects.find(({ object }) => object.metadata.name === name)
  if (!project) {
    if (name !== 'default') spec.tell(`The AppProject ${name} is not among what was given: its windows are not known.`, 'project')
    return {}
  }
  const { spec: given } = readAppProject(project)
  // Names that are not known yet match no pattern but those for all.
  if (given.has('syncWindows') && [windowed.name, windowed.namespace].some((each) => each.includes('${')))
    spec.tell(`Windows of AppProject ${name} that are for some of them have no match.`, 'project')
  const windows = windowsFor(given, windowed, (says) => spec.tell(says, 'project'))
  return windows.length > 0 ? { syncWindows: windows } : {}
}

export function readAppProject({ object }: ForeignObject): FieldReading & { spec: ForeignFields } {
  const reading = readFields(object, hintOf)
  return { ...reading, spec: specIn(reading) }
}

const SUBSCRIPTION = 'notifications.argoproj.io/'
const WAVE = 'argocd.argoproj.io/sync-wave'

function tellAnnotations(annotations: Record<string, string>, spec: ForeignFields): void {
  if (Object.keys(annotations).some((name) => name.startsWith(SUBSCRIPTION)))
    spec.tell('Its subscriptions have no match: say in spec.notifications who hears of it.')
  if (WAVE in annotations) spec.tell('Its wave among Applications has no match: name in spec.dependsOn what comes before it.')
}

export const hintOf = hintsBy([
  [/\.kustomize/, 'Write it into the kustomization.yaml in Git.'],
  [/\.directory/, 'Berth reads all manifests of the path: move away those that it is not to read.'],
  [/\.helm/, 'It has no match: write what it says into values.'],
  [/managedNamespaceMetadata/, 'Put the Namespace with its labels and annotations into Git.'],
  [/sourceRepos|destinations|Whitelist|Blacklist|roles/, 'What may be applied is said by the roles of the service account.'],
  [/signatureKeys/, 'Name the keys in spec.verify of the GitProject.'],
])
