import {
  type GitOpsDeploymentSet,
  type GitOpsDeploymentSetSpec,
  GitOpsDeploymentSets,
  type GitOpsDeploymentSpec,
  type GitProject,
  typeMetaOf,
} from '../../api/index.ts'
import { type ClusterDestination, destinationOf } from './argo-application.ts'
import { withEnvironments } from './argo-environments.ts'
import { expressionsIn, generatorsOf } from './argo-generators.ts'
import { placeholdersIn, withVariables } from './argo-placeholders.ts'
import { askedFor, hintOf, NAMESPACE, type World } from './argo-spec.ts'
import { type ForeignFields, type Remark, readFields } from './fields.ts'
import type { ForeignObject } from './imported.ts'
import { type ProjectPlace, restingAs } from './made.ts'
import { recordOf } from './paths.ts'

/** What was made of an ApplicationSet; nothing where its generators or its template have no match. */
export interface ImportedSet {
  set?: GitOpsDeploymentSet
  projects: GitProject[]
  remarks: Remark[]
}

type Template = GitOpsDeploymentSetSpec['template']

/** Makes a GitOpsDeploymentSet of an ApplicationSet. Its GitOpsDeployments rest until `suspend` is taken out of the template. */
export function setFrom({ object }: ForeignObject, world: World): ImportedSet {
  const { name, namespace = NAMESPACE } = object.metadata
  const place = world.into ?? namespace
  const { generators: given, template: written, ...others } = recordOf(object.spec)
  const projects = new Set<GitProject>()
  const projectOf = (of: ProjectPlace) => {
    const project = world.projects.projectFor(place, of)
    projects.add(project)
    return project.metadata.name
  }
  const ofGenerators = readFields({ spec: { generators: given } }, hintOf)
  const spec = ofGenerators.root.record('spec')
  const found = spec && generatorsOf(spec, { used: placeholdersIn(written), projectOf })
  if (!found || ofGenerators.isWrong()) return { projects: [], remarks: ofGenerators.told() }
  const unknown = new Set<string>()
  const rest = readFields({ spec: { ...others, template: withVariables(written, found.words, unknown) } }, hintOf)
  const own = rest.root.record('spec')
  for (const each of unknown) own?.tell(`${each} is more than the name of a value.`, 'template')
  if (own?.has('templatePatch')) own.tell('Berth has one template for all: write what it changes into Git.', 'templatePatch')
  const made = own && templateFrom(own, { place, world, projectOf, generators: found.generators })
  if (!own || !made || unknown.size > 0 || own.has('templatePatch') || rest.isWrong())
    return { projects: [], remarks: [...ofGenerators.told(), ...rest.told()] }
  const set: GitOpsDeploymentSet = {
    ...typeMetaOf(GitOpsDeploymentSets),
    metadata: { name: world.sets.take(place, name, namespace), namespace: place },
    spec: { ...made, ...rolloutOf(own), ...removalOf(own) },
  }
  return { set, projects: [...projects], remarks: [...ofGenerators.remarks(), ...rest.remarks()] }
}

interface Filling {
  place: string
  world: World
  projectOf(place: ProjectPlace): string
  generators: GitOpsDeploymentSetSpec['generators']
}

function templateFrom(
  own: ForeignFields,
  { place, world, projectOf, generators }: Filling,
): Pick<GitOpsDeploymentSetSpec, 'generators' | 'template'> | undefined {
  const template = own.record('template')
  const [metadata, spec] = [template?.record('metadata'), template?.record('spec')]
  const name = metadata?.text('name')
  if (!spec || name === undefined) {
    own.tell('It has no template with a name and a spec.', 'template')
    return undefined
  }
  const labels = textsIn(metadata?.value('labels'))
  // Argo CD puts the finalizer there by itself.
  metadata?.pass('finalizers', 'namespace')
  const found = withEnvironments(generators, awayFrom(destinationOf(spec, 'text'), place), world.environments)
  if (!found) {
    spec.tell('Where it goes is no cluster of a list, and no Environment.', 'destination')
    return undefined
  }
  for (const each of found.made) spec.tell(`Make the Environment ${each}, with the credentials of the cluster.`, 'destination')
  const finalizers = preservesResources(own) ? [] : ['resources-finalizer.argocd.argoproj.io']
  const annotations = textsIn(metadata?.value('annotations'))
  const about = { name, finalizers, annotations, destination: found.destination, isTemplate: true }
  const { source, rest } = askedFor(spec, about, world)
  if (!source) return undefined
  const isOne = !source.url.includes('${')
  if (!isOne) spec.tell('Make a GitProject for each repository.', 'source')
  const project = isOne ? `${place}/${projectOf(source)}` : undefined
  const ofOne: GitOpsDeploymentSpec = {
    source: { ...(project !== undefined && { project }), ...source.source },
    ...rest,
    // Argo CD's set synchronises its Applications itself, where it does so in steps.
    ...(own.record('strategy')?.text('type') === 'RollingSync' && { type: 'automated' as const }),
  }
  const made: Template = {
    metadata: { name, ...(Object.keys(labels).length > 0 && { labels }) },
    spec: { ...restingAs(ofOne) },
  }
  return { generators: found.generators, template: made }
}

/** A set has one namespace, and another one of its own cluster is an environment. */
const awayFrom = (destination: ClusterDestination, place: string): ClusterDestination =>
  destination.isHere && destination.namespace !== undefined && destination.namespace !== place
    ? { ...destination, cluster: 'in-cluster', isHere: false }
    : destination

const textsIn = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(recordOf(value)).map(([name, each]) => [name, String(each)]))

const preservesResources = (own: ForeignFields): boolean => own.record('syncPolicy')?.flag('preserveResourcesOnDeletion') ?? false

function removalOf(own: ForeignFields): Pick<GitOpsDeploymentSetSpec, 'removal'> {
  const policy = own.record('syncPolicy')
  const kept = policy?.text('applicationsSync') ?? 'sync'
  if (kept === 'create-only') policy?.tell('A set keeps what it has made as its template has it.', 'applicationsSync')
  return kept === 'create-only' || kept === 'create-update' ? { removal: { policy: 'Orphan' } } : {}
}

function rolloutOf(own: ForeignFields): Pick<GitOpsDeploymentSetSpec, 'rollout'> {
  const strategy = own.record('strategy')
  strategy?.pass('type', 'deletionOrder')
  own.pass('goTemplate', 'goTemplateOptions')
  const steps = (strategy?.record('rollingSync')?.records('steps') ?? []).map((step) => {
    const labelSelector = expressionsIn(step.records('matchExpressions')).join(',')
    const maxAtOnce = atOnce(step)
    return { ...(labelSelector !== '' && { labelSelector }), ...(maxAtOnce !== undefined && { maxAtOnce }) }
  })
  return steps.length > 0 ? { rollout: { steps } } : {}
}

function atOnce(step: ForeignFields): number | string | undefined {
  const update = step.value('maxUpdate')
  if (update === undefined) return undefined
  const text = String(update)
  if (/^0+%?$/.test(text)) {
    step.tell('None at all has no match: let the set rest with spec.suspend.', 'maxUpdate')
    return undefined
  }
  return /^\d+$/.test(text) ? Number(text) : text
}
