import { type GitOpsDeployment, type GitOpsDeploymentSpec, type GitProject, groupOf, keyOf, type Ref } from '../../api/index.ts'
import { pathIn } from './argo-application.ts'
import { type FieldReading, type ForeignFields, hintsBy, readFields } from './fields.ts'
import { type Repository, repositoryFrom } from './flux-git-repository.ts'
import { chartOf, releaseSpecOf } from './flux-helm-release.ts'
import { kustomizationSpecOf } from './flux-kustomization.ts'
import { type ForeignObject, type ImportChoices, type Imported, type ImportResult, type LettingGo, titleOf } from './imported.ts'
import { createNames, deploymentNamed, elsewhere } from './made.ts'
import type { ForeignKind } from './read.ts'

/** The kinds of Flux that are read, by name. */
const KINDS = {
  GitRepository: { group: 'source.toolkit.fluxcd.io', versions: ['v1', 'v1beta2'], plural: 'gitrepositories' },
  Kustomization: { group: 'kustomize.toolkit.fluxcd.io', versions: ['v1', 'v1beta2'], plural: 'kustomizations' },
  HelmRelease: { group: 'helm.toolkit.fluxcd.io', versions: ['v2', 'v2beta2', 'v2beta1'], plural: 'helmreleases' },
} as const

export const FLUX_KINDS: readonly ForeignKind[] = Object.entries(KINDS).map(([kind, rest]) => ({ kind, ...rest }))

type FluxKind = keyof typeof KINDS

/** Where `flux bootstrap` puts them, where an object in a file does not say it. */
const NAMESPACE = 'flux-system'

/** Makes GitProjects of GitRepositories, and GitOpsDeployments of the Kustomizations and HelmReleases that follow them. */
export function importFlux(given: readonly ForeignObject[], { into }: ImportChoices): ImportResult {
  const ofKind = (kind: FluxKind) =>
    given.filter(({ object }) => groupOf(object.apiVersion) === KINDS[kind].group && object.kind === kind).map(readGiven)
  const sources = new Map(
    ofKind('GitRepository').map((read) => [read.key, { ...read, found: repositoryFrom(read.spec, read.ref) }]),
  )
  const followers = [...ofKind('Kustomization'), ...ofKind('HelmRelease')].map((read) => ({
    ...read,
    place: placeOf(read, into),
  }))
  const names = createNames()
  const places = new Map(
    followers.map(({ title, ref, place, kind }) => [
      title,
      { name: names.take(place, ref.name, kind === 'HelmRelease' ? 'helm' : ref.namespace), namespace: place },
    ]),
  )
  const grants = new Map<string, Set<string>>()
  const world: World = { repositories: new Map([...sources].map(([key, { found }]) => [key, found])), places, grants }
  const made = followers.map((read) => importFollower(read, world))
  const projects = [...sources.values()].flatMap(({ found }) => (found ? [withGrants(found.project, grants)] : []))
  const ofSources = [...sources.values()].map(
    ({ title, file, found, remarks }): Imported => ({
      title,
      file,
      ...(found ? { made: [found.project] } : { made: [], isLost: true }),
      remarks: remarks(),
    }),
  )
  return {
    projects,
    deployments: made.flatMap(({ deployment = [] }) => deployment),
    sets: [],
    imported: [...ofSources, ...made.map(({ imported }) => imported)],
  }
}

interface Read extends FieldReading {
  kind: FluxKind
  title: string
  file: string
  ref: Ref & { namespace: string }
  /** Of the ref. */
  key: string
  spec: ForeignFields
  labels: Record<string, string>
}

interface Follower extends Read {
  /** The namespace of what is made of it. */
  place: string
}

function readGiven({ object, file }: ForeignObject): Read {
  const { name, namespace = NAMESPACE, labels = {} } = object.metadata
  const ref = { name, namespace }
  const title = titleOf(object.kind, ref)
  const reading = readFields(object, `${title} in ${file}`, hintOf)
  reading.root.pass('apiVersion', 'kind', 'metadata', 'status')
  const kind: FluxKind = object.kind === 'GitRepository' || object.kind === 'HelmRelease' ? object.kind : 'Kustomization'
  return { ...reading, kind, title, file, ref, key: keyOf(ref), spec: reading.root.record('spec') ?? reading.root, labels }
}

/**
 * Objects that name no namespace go where the GitOpsDeployment is, unless it is for another cluster. Those of a HelmRelease go to its
 * own namespace where it names no other.
 */
function placeOf({ kind, spec, ref }: Read, into: string | undefined): string {
  if (spec.record('kubeConfig')) return into ?? ref.namespace
  return spec.objectName('targetNamespace') ?? (kind === 'HelmRelease' ? undefined : into) ?? ref.namespace
}

interface World {
  /** By the key of the GitRepository; nothing for one from which Berth cannot fetch. */
  repositories: ReadonlyMap<string, Repository | undefined>
  /** What is made of each, by its title. */
  places: ReadonlyMap<string, Ref & { namespace: string }>
  /** Service accounts of other namespaces, by the key of the GitProject. */
  grants: Map<string, Set<string>>
}

interface Content {
  repository: Repository
  path: string
  helm?: GitOpsDeploymentSpec['source']['helm']
}

function importFollower(read: Follower, world: World): { imported: Imported; deployment?: GitOpsDeployment } {
  const { kind, title, file, spec, ref, place, labels } = read
  const isElsewhere = spec.record('kubeConfig') !== undefined
  const content = contentOf(read, world)
  const rest = kind === 'HelmRelease' ? releaseSpecOf(spec) : kustomizationSpecOf(spec)
  const [serviceAccountName, destination] = [spec.objectName('serviceAccountName'), destinationOf(read)]
  const others = { ...destination, ...dependenciesOf(read, world), ...(serviceAccountName && { serviceAccountName }) }
  const rests = spec.flag('suspend') ?? false
  if (rests) spec.tell('It is suspended in Flux, and rests here, too, until you let it go on.', 'suspend')
  const storage = spec.objectName('storageNamespace') ?? ref.namespace
  const parent = labels['kustomize.toolkit.fluxcd.io/name']
  const above = { name: parent ?? '', namespace: labels['kustomize.toolkit.fluxcd.io/namespace'] ?? ref.namespace }
  const release = releaseOf(kind, ref, parent === undefined ? undefined : titleOf('Kustomization', above))
  const ours = world.places.get(title)
  if (!content || !ours || (isElsewhere && !destination.destination))
    return { imported: { title, file, made: [], isLost: true, remarks: read.remarks(), release } }
  tellPlace(read)
  const records = content.helm && !isElsewhere ? forgetting(content.helm.releaseName, storage) : []
  const { project, revision } = content.repository
  const source = {
    ...{ repoURL: project.spec.url, project: keyOf(project.metadata), path: content.path },
    ...revision,
    ...(content.helm && { helm: content.helm }),
  }
  const deployment = deploymentNamed(place, ours.name, { source, ...rest, ...others })
  grant(world, project, { name: deployment.spec.serviceAccountName ?? 'default', namespace: place })
  const imported = { title, file, made: [deployment], remarks: read.remarks(), rests }
  return { imported: { ...imported, release: { ...release, remove: [...release.remove, ...records] } }, deployment }
}

function contentOf({ kind, spec, ref }: Follower, { repositories }: World): Content | undefined {
  const target = spec.objectName('targetNamespace')
  const chart =
    kind === 'HelmRelease' ? chartOf(spec, spec.objectName('releaseName') ?? defaultReleaseName(ref, target)) : undefined
  if (kind === 'HelmRelease' && !chart) return undefined
  const sourceRef = chart?.sourceRef ?? spec.record('sourceRef')
  const path = chart?.path ?? pathIn(spec, 'path')
  sourceRef?.pass('apiVersion')
  const [sourceKind, name, namespace = ref.namespace] = ['kind', 'name', 'namespace'].map((field) => sourceRef?.text(field))
  if (sourceKind !== 'GitRepository' || name === undefined) {
    spec.tell(`Berth follows Git repositories, and no ${sourceKind ?? 'source without a name'}.`, 'sourceRef')
    return undefined
  }
  if (path === undefined) return undefined
  const key = keyOf({ name, namespace })
  const repository = repositories.get(key)
  if (repository) return { repository, path, ...(chart && { helm: chart.helm }) }
  const why = repositories.has(key) ? 'has no match' : 'is not among what was given'
  sourceRef?.tell(`GitRepository ${key} ${why}, and without it nothing is known of the repository.`)
  return undefined
}

/** https://fluxcd.io/flux/components/helm/helmreleases/#release-name */
const defaultReleaseName = ({ name }: Ref, target: string | undefined): string =>
  target === undefined ? name : `${target}-${name}`

function destinationOf({ kind, spec, ref }: Follower): Pick<GitOpsDeploymentSpec, 'destination'> {
  const config = spec.record('kubeConfig')
  const environment = config?.record('secretRef')?.objectName('name')
  const namespace = spec.objectName('targetNamespace') ?? (kind === 'HelmRelease' ? ref.namespace : undefined)
  if (config && environment === undefined) config.tell('Berth knows clusters by a GitOpsDeploymentManagedEnvironment: make one.')
  if (environment === undefined) return {}
  return elsewhere(spec, 'kubeConfig', { cluster: `in Secret ${environment}`, environment, namespace })
}

function dependenciesOf({ kind, spec, ref, place }: Follower, { places }: World): Pick<GitOpsDeploymentSpec, 'dependsOn'> {
  const dependsOn = spec.records('dependsOn').flatMap((dependency) => {
    const { name = '', namespace = ref.namespace } = { name: dependency.text('name'), namespace: dependency.text('namespace') }
    const found = places.get(titleOf(kind, { name, namespace }))
    if (!found) dependency.tell(`${kind} ${namespace}/${name} is not among what was given.`)
    if (!found) return []
    if (found.namespace !== place)
      dependency.tell(`It is in another namespace: the operator must allow ${place} to depend on ${found.namespace}.`)
    return [{ name: found.name, ...(found.namespace !== place && { namespace: found.namespace }) }]
  })
  return dependsOn.length > 0 ? { dependsOn } : {}
}

/** What lies beside the object of Flux, and would have to lie beside ours. */
function tellPlace({ kind, spec, ref, place }: Follower): void {
  if (kind === 'Kustomization' && spec.objectName('targetNamespace') !== undefined)
    spec.tell(
      'Flux puts every object into it, and Berth those that name none: see what `berth diff` would create.',
      'targetNamespace',
    )
  if (place !== ref.namespace)
    spec.tell(
      `It is made in ${place}: ConfigMaps, Secrets and service accounts of ${ref.namespace} that it names are needed there.`,
    )
}

function grant({ grants }: World, project: GitProject, account: { name: string; namespace: string }): void {
  if (account.namespace === project.metadata.namespace) return
  const key = keyOf(project.metadata)
  grants.set(key, (grants.get(key) ?? new Set()).add(`${account.namespace}/${account.name}`))
}

/** Each namespace reads it as far as it needs to. */
function withGrants(project: GitProject, grants: ReadonlyMap<string, ReadonlySet<string>>): GitProject {
  const accounts = [...(grants.get(keyOf(project.metadata)) ?? [])].sort()
  if (accounts.length === 0) return project
  const serviceAccounts = accounts.map((account) => {
    const [namespace = '', name = ''] = account.split('/')
    return { name, namespace }
  })
  return { ...project, spec: { ...project.spec, grants: { serviceAccounts } } }
}

/** Helm's records of a release outlive a HelmRelease that is suspended, and `helm uninstall` would go by them. */
const forgetting = (releaseName: string | undefined, namespace: string): string[] => [
  `kubectl delete secrets -n ${namespace} -l owner=helm,name=${releaseName}`,
]

/** What is suspended writes nothing, and takes nothing with it when it is deleted. */
function releaseOf(kind: FluxKind, { name, namespace }: Ref, parent: string | undefined): LettingGo {
  const { group, plural } = KINDS[kind]
  const at = `${plural}.${group} ${name} -n ${namespace}`
  // With this manager Flux leaves the field where another Kustomization applies this one.
  const stop = `kubectl patch ${at} --field-manager=flux-client-side-apply --type merge -p '{"spec":{"suspend":true}}'`
  return { parent, stop: [stop], remove: [stop, `kubectl delete ${at}`] }
}

const hintOf = hintsBy([
  [/^spec\.ignore/, 'Files that it leaves out are read here: keep them out of the paths that are applied.'],
  [
    /^spec\.(?:images|patches|patchesJson6902|patchesStrategicMerge|components|commonMetadata|namePrefix|nameSuffix)/,
    'Write it into the kustomization.yaml in Git.',
  ],
  [/^spec\.healthCheckExprs/, 'Write it as spec.healthRules, in which the object is called `object`.'],
  [/^spec\.postRenderers/, 'Put a kustomization.yaml around the chart, or what it changes into the templates.'],
  [/^spec\.(?:recurseSubmodules|include|sparseCheckout)/, 'All that belongs to the path must lie in the one repository.'],
  [/^spec\.(?:provider|proxySecretRef|certSecretRef)/, 'Berth fetches with what is in the Secret of the GitProject.'],
])
