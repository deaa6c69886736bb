import {
  type AnyObject,
  type GitOpsDeployment,
  type GitOpsDeploymentSpec,
  groupOf,
  type ObjectMeta,
  type Ref,
} from '../../api/index.ts'
import { type ClusterDestination, deletionOf, destinationOf, ignoreOf, sourceOf, syncSpecOf } from './argo-application.ts'
import { type Windowed, windowsFor } from './argo-windows.ts'
import { type FieldReading, type ForeignFields, hintsBy, readFields } from './fields.ts'
import { type ForeignObject, type ImportChoices, type Imported, type ImportResult, type LettingGo, titleOf } from './imported.ts'
import { createNames, createProjects, deploymentNamed, elsewhere, type MadeProjects, type Names } from './made.ts'
import type { ForeignKind } from './read.ts'

const ARGO_GROUP = 'argoproj.io'
const VERSIONS = ['v1alpha1']

export const ARGO_KINDS: readonly ForeignKind[] = [
  { group: ARGO_GROUP, versions: VERSIONS, kind: 'Application', plural: 'applications' },
  { group: ARGO_GROUP, versions: VERSIONS, kind: 'AppProject', plural: 'appprojects' },
  { group: ARGO_GROUP, versions: VERSIONS, kind: 'ApplicationSet', plural: 'applicationsets' },
]

/** Where Argo CD is, where an object in a file does not say it. */
const NAMESPACE = 'argocd'

/** Annotations and labels by which an object that is an Application says which Application has applied it. */
const TRACKING = 'argocd.argoproj.io/tracking-id'
const INSTANCE = 'app.kubernetes.io/instance'

/** Makes GitOpsDeployments of Applications, with the windows of their AppProjects, and a GitProject for each repository. */
export function importArgo(given: readonly ForeignObject[], { into }: ImportChoices): ImportResult {
  const ofKind = (kind: string) => given.filter(({ object }) => groupOf(object.apiVersion) === ARGO_GROUP && object.kind === kind)
  const appProjects = ofKind('AppProject')
  const world = { into, projects: createProjects(), names: createNames(), appProjects }
  const applications = ofKind('Application').map((each) => importApplication(each, world))
  return {
    projects: world.projects.all(),
    deployments: applications.flatMap(({ deployment = [] }) => deployment),
    imported: [
      ...applications.map(({ imported }) => imported),
      ...appProjects.map(importAppProject),
      ...ofKind('ApplicationSet').map(importSet),
    ],
  }
}

interface World extends ImportChoices {
  projects: MadeProjects
  names: Names
  appProjects: readonly ForeignObject[]
}

function importApplication(given: ForeignObject, world: World): { imported: Imported; deployment?: GitOpsDeployment } {
  const { object, file } = given
  const { name, namespace = NAMESPACE } = object.metadata
  const title = titleOf('Application', { name, namespace })
  const reading = readFields(object, `${title} in ${file}`, hintOf)
  const spec = specIn(reading)
  const destination = destinationOf(spec)
  const place = (destination.isHere ? destination.namespace : undefined) ?? world.into ?? destination.namespace
  const source = sourceOf(spec)
  const rest: Omit<GitOpsDeploymentSpec, 'source'> = {
    ...destinationSpec(spec, destination),
    ...syncSpecOf(spec),
    ...ignoreOf(spec),
    ...deletionOf(object.metadata.finalizers),
    ...windowsOf(spec, { name, namespace: destination.namespace ?? '', clusters: [destination.cluster] }, world),
  }
  tellAnnotations(object, spec)
  spec.pass('revisionHistoryLimit', 'info')
  if (place === undefined) spec.tell('It names no namespace: name one with --into.', 'destination')
  const imported = { title, file, made: [], release: releaseOf(object, { name, namespace }) }
  if (!source || place === undefined) return { imported: { ...imported, isLost: true, remarks: reading.remarks() } }
  const project = world.projects.projectFor(place, source.url)
  const ours = world.names.take(place, name, namespace)
  if (ours !== name && source.source.helm?.releaseName === undefined)
    spec.tell(`It is called ${ours} here. If it is a chart, set spec.source.helm.releaseName: ${name}.`)
  const deployment = deploymentNamed(place, ours, {
    source: { repoURL: source.url, project: `${place}/${project.metadata.name}`, ...source.source },
    ...rest,
  })
  return { imported: { ...imported, made: [deployment, project], remarks: reading.remarks() }, deployment }
}

/** All but the spec is no wish of anybody. */
function specIn({ root }: FieldReading): ForeignFields {
  root.pass('apiVersion', 'kind', 'metadata', 'status', 'operation')
  return root.record('spec') ?? root
}

function destinationSpec(
  spec: ForeignFields,
  { namespace, cluster, isHere }: ClusterDestination,
): Pick<GitOpsDeploymentSpec, 'destination'> {
  const environment = URL.canParse(cluster) ? new URL(cluster).hostname : cluster
  return isHere || environment === '' ? {} : elsewhere(spec, 'destination', { environment, namespace })
}

function windowsOf(spec: ForeignFields, windowed: Windowed, { appProjects }: World): Pick<GitOpsDeploymentSpec, 'syncWindows'> {
  const name = spec.text('project') ?? 'default'
  const project = appProjects.find(({ object }) => object.metadata.name === name)
  if (!project) {
    if (name !== 'default') spec.tell(`The AppProject ${name} is not among what was given: its windows are not known.`, 'project')
    return {}
  }
  const windows = windowsFor(readAppProject(project).spec, windowed, (says) => spec.tell(says, 'project'))
  return windows.length > 0 ? { syncWindows: windows } : {}
}

function readAppProject({ object, file }: ForeignObject): FieldReading & { spec: ForeignFields; title: string } {
  const title = titleOf('AppProject', { namespace: NAMESPACE, ...object.metadata })
  const reading = readFields(object, `${title} in ${file}`, hintOf)
  return { ...reading, spec: specIn(reading), title }
}

/** Nothing is made of it: its windows went to its Applications. */
function importAppProject(given: ForeignObject): Imported {
  const { spec, title, remarks } = readAppProject(given)
  spec.pass('description', 'syncWindows')
  return { title, file: given.file, made: [], remarks: remarks() }
}

function importSet({ object, file }: ForeignObject): Imported {
  const title = titleOf('ApplicationSet', { namespace: NAMESPACE, ...object.metadata })
  const says = 'Write a GitOpsDeploymentSet. Its Applications are read as they are where they are among what was given.'
  return {
    title,
    file,
    made: [],
    isLost: true,
    remarks: [{ field: 'spec', says }],
    release: releaseOf(object, { namespace: NAMESPACE, ...object.metadata }),
  }
}

const SUBSCRIPTION = 'notifications.argoproj.io/'
const WAVE = 'argocd.argoproj.io/sync-wave'

function tellAnnotations({ metadata: { annotations = {} } }: AnyObject, spec: ForeignFields): void {
  if (Object.keys(annotations).some((name) => name.startsWith(SUBSCRIPTION)))
    spec.tell('Its subscriptions have no match: say in spec.notifications who hears of it.')
  if (WAVE in annotations) spec.tell('Its wave among Applications has no match: name in spec.dependsOn what comes before it.')
}

/** Without its finalizer nothing goes with an Application, and without automation nothing is written. */
const REST = '{"metadata":{"finalizers":null},"spec":{"syncPolicy":{"automated":null}}}'

function releaseOf({ kind, metadata }: AnyObject, { name, namespace }: Ref): LettingGo {
  const at = `${kind.toLowerCase()}s.${ARGO_GROUP} ${name} -n ${namespace}`
  // It owns its Applications, and would make them anew.
  if (kind === 'ApplicationSet')
    return { parent: parentOf(metadata, { name, namespace }), stop: [`kubectl delete ${at} --cascade=orphan`], remove: [] }
  return {
    parent: parentOf(metadata, { name, namespace }),
    stop: [`kubectl patch ${at} --type merge -p '${REST}'`],
    remove: [`kubectl delete ${at}`],
  }
}

/** The ApplicationSet that has made it, or the Application in whose directory it lies. */
function parentOf({ ownerReferences = [], annotations, labels }: ObjectMeta, { name, namespace }: Ref): string | undefined {
  const owner = ownerReferences.find(({ kind }) => kind === 'ApplicationSet')
  if (owner) return titleOf(owner.kind, { name: owner.name, namespace })
  // With Applications in any namespace, `team-a_shop` stands there for `team-a/shop`.
  const applied = annotations?.[TRACKING]?.split(':')[0] ?? labels?.[INSTANCE]
  if (applied === undefined || applied === name) return undefined
  const [first = '', second] = applied.split('_')
  return titleOf('Application', second === undefined ? { name: first, namespace } : { name: second, namespace: first })
}

const hintOf = hintsBy([
  [/\.kustomize/, 'Write it into the kustomization.yaml in Git.'],
  [/\.directory/, 'Berth reads all manifests of the path: move away those that it is not to read.'],
  [/\.plugin/, 'Berth runs no plug-ins: commit what this one renders.'],
  [/\.helm/, 'It has no match: write what it says into values.'],
  [/managedNamespaceMetadata/, 'Put the Namespace with its labels and annotations into Git.'],
  [/sourceRepos|destinations|Whitelist|Blacklist|roles/, 'What may be applied is said by the roles of the service account.'],
  [/signatureKeys/, 'Name the keys in spec.verify of the GitProject.'],
])
