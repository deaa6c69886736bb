import {
  type GitOpsDeploymentSet,
  type GitOpsDeploymentSetSpec,
  GitOpsDeploymentSets,
  type GitOpsDeploymentSpec,
  typeMetaOf,
} from '../../api/index.ts'
import { isRecord } from '../../std/index.ts'
import { destinationOf } from './argo-application.ts'
import { expressionsIn, generatorsOf } from './argo-generators.ts'
import { placeholdersIn, withVariables } from './argo-placeholders.ts'
import { askedFor, hintOf, NAMESPACE, type World } from './argo-spec.ts'
import { type FieldReading, type ForeignFields, readFields } from './fields.ts'
import { type ForeignObject, titleOf } from './imported.ts'
import { restingAs } from './made.ts'

/** What was made of an ApplicationSet; nothing where its generators or its template have no match. */
export interface ImportedSet {
  set: GitOpsDeploymentSet | undefined
  reading: FieldReading
}

/** Makes a GitOpsDeploymentSet of an ApplicationSet. Its GitOpsDeployments rest until `suspend` is taken out of the template. */
export function setFrom({ object, file }: ForeignObject, world: World): ImportedSet {
  const { name, namespace = NAMESPACE } = object.metadata
  const title = titleOf('ApplicationSet', { name, namespace })
  const given = isRecord(object.spec) ? object.spec : {}
  const place = world.into ?? namespace
  const projectOf = (url: string) => world.projects.projectFor(place, url).metadata.name
  const first = readFields(object, `${title} in ${file}`, hintOf)
  const spec = first.root.record('spec')
  const found = spec && generatorsOf(spec, { used: placeholdersIn(given.template), projectOf })
  if (!found) return { set: undefined, reading: first }
  const unknown = new Set<string>()
  const template = withVariables(given.template, found.words, unknown)
  // Read once more, with variables of ours in the place of theirs: what was told of the generators is told again.
  const reading = readFields({ ...object, spec: { ...given, template } }, `${title} in ${file}`, hintOf)
  reading.root.pass('apiVersion', 'kind', 'metadata', 'status')
  const own = reading.root.record('spec')
  if (!own) return { set: undefined, reading }
  generatorsOf(own, { used: placeholdersIn(given.template), projectOf })
  for (const each of unknown) own.tell(`${each} is more than the name of a value.`, 'template')
  const made = templateFrom(own, place, world)
  if (!made || unknown.size > 0) return { set: undefined, reading }
  const set: GitOpsDeploymentSet = {
    ...typeMetaOf(GitOpsDeploymentSets),
    metadata: { name: world.sets.take(place, name, namespace), namespace: place },
    spec: { generators: found.generators, template: made, ...rolloutOf(own), ...removalOf(own) },
  }
  return { set, reading }
}

type Template = GitOpsDeploymentSetSpec['template']

function templateFrom(own: ForeignFields, place: string, world: World): Template | undefined {
  const template = own.record('template')
  const metadata = template?.record('metadata')
  const name = metadata?.text('name')
  const spec = template?.record('spec')
  if (!spec || name === undefined) {
    own.tell('It has no template with a name and a spec.', 'template')
    return undefined
  }
  const labels = metadata?.value('labels')
  metadata?.pass('annotations', 'finalizers', 'namespace')
  const destination = destinationOf(spec, 'text')
  const elsewhere = destination.isHere && destination.namespace !== undefined && destination.namespace !== place
  // One place of our own cluster for each: what names another namespace than its own needs an environment.
  const there = elsewhere ? { ...destination, cluster: 'in-cluster', isHere: false } : destination
  const finalizers = preservesResources(own) ? [] : ['resources-finalizer.argocd.argoproj.io']
  const { source, rest } = askedFor(spec, { name, finalizers, destination: there }, world)
  if (!source) return undefined
  const { url } = source
  const project = url.includes('${') ? undefined : `${place}/${world.projects.projectFor(place, url).metadata.name}`
  if (!project) spec.tell('Make a GitProject for each repository.', 'source')
  const ofTemplate: GitOpsDeploymentSpec = {
    source: { repoURL: url, ...(project !== undefined && { project }), ...source.source },
    ...rest,
  }
  return { metadata: { name, ...(isTexts(labels) && { labels }) }, spec: { ...restingAs(ofTemplate) } }
}

const isTexts = (value: unknown): value is Record<string, string> =>
  isRecord(value) && Object.values(value).every((each) => typeof each === 'string')

/** Argo CD puts the finalizer there by itself. */
const preservesResources = (own: ForeignFields): boolean => own.record('syncPolicy')?.flag('preserveResourcesOnDeletion') ?? false

function removalOf(own: ForeignFields): Pick<GitOpsDeploymentSetSpec, 'removal'> {
  const policy = own.record('syncPolicy')?.text('applicationsSync') ?? 'sync'
  return policy === 'create-only' || policy === 'create-update' ? { removal: { policy: 'Orphan' } } : {}
}

function rolloutOf(own: ForeignFields): Pick<GitOpsDeploymentSetSpec, 'rollout'> {
  const strategy = own.record('strategy')
  const given = strategy?.record('rollingSync')?.records('steps') ?? []
  strategy?.pass('type', 'deletionOrder')
  own.pass('goTemplate', 'goTemplateOptions')
  const steps = given.map((step) => {
    const labelSelector = expressionsIn(step.records('matchExpressions')).join(',')
    const update = step.value('maxUpdate')
    const maxAtOnce = update === undefined ? undefined : /^[1-9]\d*$/.test(String(update)) ? Number(update) : String(update)
    if (maxAtOnce === '0' || maxAtOnce === '0%')
      step.tell('None at all has no match: let the set rest with spec.suspend.', 'maxUpdate')
    return {
      ...(labelSelector !== '' && { labelSelector }),
      ...(maxAtOnce !== undefined && maxAtOnce !== '0' && maxAtOnce !== '0%' && { maxAtOnce }),
    }
  })
  return steps.length > 0 ? { rollout: { steps } } : {}
}
