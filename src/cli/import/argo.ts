import { type AnyObject, groupOf, type Ref } from '../../api/index.ts'
import { destinationOf } from './argo-application.ts'
import { setFrom } from './argo-set.ts'
import { askedFor, hintOf, NAMESPACE, readAppProject, specIn, type World } from './argo-spec.ts'
import { readFields } from './fields.ts'
import { type ForeignObject, type ImportChoices, type Imported, isLive, type LettingGo, titleOf } from './imported.ts'
import { createEnvironments, createNames, createProjects, deploymentNamed } from './made.ts'
import { parentOf } from './parents.ts'
import { recordOf } from './paths.ts'
import type { ForeignKind } from './read.ts'

const ARGO_GROUP = 'argoproj.io'
const VERSIONS = ['v1alpha1']

export const ARGO_KINDS: readonly ForeignKind[] = [
  { group: ARGO_GROUP, versions: VERSIONS, kind: 'Application', plural: 'applications' },
  { group: ARGO_GROUP, versions: VERSIONS, kind: 'AppProject', plural: 'appprojects' },
  { group: ARGO_GROUP, versions: VERSIONS, kind: 'ApplicationSet', plural: 'applicationsets' },
]

/** Makes GitOpsDeployments of Applications, sets of them of ApplicationSets, and a GitProject for each repository. */
export function importArgo(objects: readonly ForeignObject[], { into }: ImportChoices): Imported[] {
  const ofKind = (kind: string) =>
    objects.filter(({ object }) => groupOf(object.apiVersion) === ARGO_GROUP && object.kind === kind)
  const [appProjects, given] = [ofKind('AppProject'), ofKind('Application')]
  const applications = given.map(({ object: { metadata } }) => ({
    name: metadata.name,
    namespace: metadata.namespace ?? NAMESPACE,
  }))
  const world: World = {
    into,
    projects: createProjects(),
    names: createNames(),
    sets: createNames(),
    environments: createEnvironments(),
    appProjects,
    applications,
  }
  const sets = ofKind('ApplicationSet').map((each) => importSet(each, world))
  const translated = new Set(sets.flatMap(({ title, isLost }) => (isLost ? [] : [title])))
  return [...sets, ...given.map((each) => importApplication(each, world, translated)), ...appProjects.map(importAppProject)]
}

function importSet(given: ForeignObject, world: World): Imported {
  const { object, file } = given
  const ref = { namespace: NAMESPACE, ...object.metadata }
  const { set, projects, remarks } = setFrom(given, world)
  return {
    title: titleOf('ApplicationSet', ref),
    file,
    remarks,
    release: releaseOf(object, ref, world.applications),
    isLive: isLive(object),
    has: membersOf(object, ref),
    ...(set ? { made: [set, ...projects] } : { made: [], isLost: true }),
  }
}

/** Titles of the Applications that it has made, as its status has them. */
function membersOf({ status }: AnyObject, { namespace }: Ref): string[] {
  const { resources } = recordOf(status)
  return (Array.isArray(resources) ? resources : [])
    .map(recordOf)
    .map(({ name, namespace: other }) =>
      titleOf('Application', { name: String(name), namespace: typeof other === 'string' && other !== '' ? other : namespace }),
    )
}

function importApplication({ object, file }: ForeignObject, world: World, translated: ReadonlySet<string>): Imported {
  const { name, namespace = NAMESPACE } = object.metadata
  const release = releaseOf(object, { name, namespace }, world.applications)
  const imported = { title: titleOf('Application', { name, namespace }), file, made: [], release, isLive: isLive(object) }
  // The set makes its own in the place of this one.
  if (release.parent !== undefined && translated.has(release.parent))
    return { ...imported, becomes: `one of the set of ${release.parent}`, remarks: [] }
  const reading = readFields(object, hintOf)
  const spec = specIn(reading)
  const destination = destinationOf(spec)
  const place = (destination.isHere ? destination.namespace : undefined) ?? world.into ?? destination.namespace
  const { source, rest } = askedFor(spec, { ...object.metadata, destination }, world)
  const rests = object.metadata.annotations?.[SKIP] === 'true'
  if (rests) spec.tell(RESTS)
  if (place === undefined) spec.tell('It names no namespace: name one with --into.', 'destination')
  if (!source || place === undefined || reading.isWrong()) return { ...imported, isLost: true, remarks: reading.told() }
  const project = world.projects.projectFor(place, source)
  const ours = world.names.take(place, name, namespace)
  if (ours !== name && source.source.helm?.releaseName === undefined)
    spec.tell(`It is called ${ours} here. If it is a chart, set spec.source.helm.releaseName: ${name}.`)
  const deployment = deploymentNamed(place, ours, {
    source: { project: `${place}/${project.metadata.name}`, ...source.source },
    ...rest,
  })
  return { ...imported, made: [deployment, project], remarks: reading.remarks(), rests }
}

/** Nothing is made of it: its windows went to its Applications. */
function importAppProject(given: ForeignObject): Imported {
  const { object, file } = given
  const { spec, remarks } = readAppProject(given)
  spec.pass('description', 'syncWindows')
  const title = titleOf('AppProject', { namespace: NAMESPACE, ...object.metadata })
  return { title, file, made: [], becomes: 'the windows of its Applications', remarks: remarks(), isLive: isLive(object) }
}

const SKIP = 'argocd.argoproj.io/skip-reconcile'
const RESTS =
  'Argo CD does not reconcile it, and it rests here, too, until you let it go on. Where a hand-over has begun, its automation and finalizers are gone: import from a copy made before.'

/** Nobody looks at it any more, and without its finalizers nothing goes with it. */
const REST = {
  metadata: { annotations: { [SKIP]: 'true' }, finalizers: null },
  spec: { syncPolicy: { automated: null } },
}
/** Nor with its set. */
const APART = { ...REST, metadata: { ...REST.metadata, ownerReferences: null } }
const CREATE_ONLY = { spec: { syncPolicy: { applicationsSync: 'create-only' } } }
const NO_FINALIZERS = { metadata: { finalizers: null } }

function releaseOf({ kind, metadata }: AnyObject, { name, namespace = NAMESPACE }: Ref, applications: readonly Ref[]): LettingGo {
  const at = `${kind.toLowerCase()}s.${ARGO_GROUP} ${name} -n ${namespace}`
  const parent = parentOf({ ...metadata, namespace }, titleOf(kind, { name, namespace }), applications)
  const patch = (change: object) => `kubectl patch ${at} --type merge -p '${JSON.stringify(change)}'`
  if (kind === 'Application') return { parent, stop: [patch(REST)], part: [patch(APART)], remove: [`kubectl delete ${at}`] }
  // It owns its Applications: as long as it is there, it makes those anew that are missing.
  return { parent, stop: [patch(CREATE_ONLY)], part: [patch(NO_FINALIZERS)], remove: [`kubectl delete ${at} --cascade=orphan`] }
}
