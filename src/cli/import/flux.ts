import {
  chartsAt,
  type GitOpsDeploymentSpec,
  type GitProject,
  groupOf,
  keyOf,
  type ObjectMeta,
  type Ref,
} from '../../api/index.ts'
import { type FieldReading, type ForeignFields, hintsBy, readFields } from './fields.ts'
import { type Repository, repositoryFrom } from './flux-git-repository.ts'
import { chartOf, type ReleaseChart, releaseSpecOf } from './flux-helm-release.ts'
import { kustomizationSpecOf } from './flux-kustomization.ts'
import { helmRepositoryFrom, ociRepositoryFrom } from './flux-published.ts'
import { type ForeignObject, type ImportChoices, type Imported, isLive, type LettingGo, titleOf } from './imported.ts'
import { createEnvironments, createNames, deploymentNamed, type Environments, elsewhere } from './made.ts'
import { parentOf } from './parents.ts'
import { pathIn } from './paths.ts'
import type { ForeignKind } from './read.ts'

/** The kinds of Flux that are read, by name. */
const KINDS = {
  GitRepository: { group: 'source.toolkit.fluxcd.io', versions: ['v1', 'v1beta2'], plural: 'gitrepositories' },
  HelmRepository: { group: 'source.toolkit.fluxcd.io', versions: ['v1', 'v1beta2'], plural: 'helmrepositories' },
  OCIRepository: { group: 'source.toolkit.fluxcd.io', versions: ['v1', 'v1beta2'], plural: 'ocirepositories' },
  Kustomization: { group: 'kustomize.toolkit.fluxcd.io', versions: ['v1', 'v1beta2'], plural: 'kustomizations' },
  HelmRelease: { group: 'helm.toolkit.fluxcd.io', versions: ['v2', 'v2beta2', 'v2beta1'], plural: 'helmreleases' },
} as const

export const FLUX_KINDS: readonly ForeignKind[] = Object.entries(KINDS).map(([kind, rest]) => ({ kind, ...rest }))

type FluxKind = keyof typeof KINDS

/** Makes a GitProject of each source. */
const SOURCES = { GitRepository: repositoryFrom, HelmRepository: helmRepositoryFrom, OCIRepository: ociRepositoryFrom } as const
type SourceKind = keyof typeof SOURCES
const SOURCE_KINDS: readonly SourceKind[] = ['GitRepository', 'HelmRepository', 'OCIRepository']

const FLUX_NAMES: readonly FluxKind[] = [...SOURCE_KINDS, 'Kustomization', 'HelmRelease']

/** Where `flux bootstrap` puts them, where an object in a file does not say it. */
const NAMESPACE = 'flux-system'

/** Makes GitProjects of sources, and GitOpsDeployments of the Kustomizations and HelmReleases that follow them. */
export function importFlux(given: readonly ForeignObject[], { into }: ImportChoices): Imported[] {
  const ofKind = (kind: FluxKind) =>
    given.filter(({ object }) => groupOf(object.apiVersion) === KINDS[kind].group && object.kind === kind).map(readGiven)
  const sources = new Map(
    SOURCE_KINDS.flatMap((kind) =>
      ofKind(kind).map((read) => [`${kind} ${read.key}`, { ...read, found: SOURCES[kind](read.spec, read.ref) }] as const),
    ),
  )
  const repositories = new Map([...sources].map(([key, { found }]) => [key, found]))
  const followers = [...ofKind('Kustomization'), ...ofKind('HelmRelease')].map((read): Follower => {
    const content = contentOf(read, repositories)
    return { ...read, place: placeOf(read, into), content: read.isWrong() ? undefined : content }
  })
  const names = createNames()
  const places = new Map(
    followers.flatMap(({ title, ref, place, kind, content }) =>
      content
        ? [
            [
              title,
              { name: names.take(place, ref.name, kind === 'HelmRelease' ? 'helm' : ref.namespace), namespace: place },
            ] as const,
          ]
        : [],
    ),
  )
  const grants = new Map<string, Set<string>>()
  const world: World = { places, grants, environments: createEnvironments() }
  const made = followers.map((read) => importFollower(read, world))
  const ofSources = [...sources.values()].map(
    ({ title, file, isLive: live, found, remarks, isWrong }): Imported => ({
      title,
      file,
      isLive: live,
      remarks: remarks(),
      ...(found && !isWrong() ? { made: [withGrants(found.project, grants)] } : { made: [], isLost: true }),
    }),
  )
  return [...ofSources, ...made]
}

interface Read extends FieldReading {
  kind: FluxKind
  title: string
  file: string
  isLive: boolean
  ref: Ref & { namespace: string }
  /** Of the ref. */
  key: string
  spec: ForeignFields
  metadata: ObjectMeta
}

interface Follower extends Read {
  /** The namespace of what is made of it. */
  place: string
  /** Nothing where Berth cannot follow it. */
  content: Content | undefined
}

function readGiven({ object, file }: ForeignObject): Read {
  const { metadata } = object
  const { name, namespace = NAMESPACE } = metadata
  const ref = { name, namespace }
  const reading = readFields(object, hintOf)
  reading.root.pass('apiVersion', 'kind', 'metadata', 'status')
  const kind = FLUX_NAMES.find((each) => each === object.kind) ?? 'Kustomization'
  const about = { kind, title: titleOf(kind, ref), file, isLive: isLive(object), ref, key: keyOf(ref), metadata }
  return { ...reading, ...about, spec: reading.root.record('spec') ?? reading.root }
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
  /** What is made of each, by its title. */
  places: ReadonlyMap<string, Ref & { namespace: string }>
  /** Service accounts of other namespaces, by the key of the GitProject. */
  grants: Map<string, Set<string>>
  environments: Environments
}

interface Content {
  repository: Repository
  source: GitOpsDeploymentSpec['source']
}

function importFollower(read: Follower, world: World): Imported {
  const { title, file, spec, place, content } = read
  const imported = { title, file, made: [], isLive: read.isLive, release: releaseOf(read) }
  const ours = world.places.get(title)
  if (!content || !ours) return { ...imported, isLost: true, remarks: read.told() }
  const rests = spec.flag('suspend') ?? false
  if (rests) spec.tell('It is suspended in Flux, and rests here, too, until you let it go on.', 'suspend')
  tellPlace(read)
  const deployment = deploymentNamed(place, ours.name, specOf(read, content, world))
  const { project } = content.repository
  grant(world, project, { name: deployment.spec.serviceAccountName ?? 'default', namespace: place })
  if (read.isWrong()) return { ...imported, isLost: true, remarks: read.told() }
  return { ...imported, made: [deployment], remarks: read.remarks(), rests }
}

function specOf(read: Follower, content: Content, world: World): GitOpsDeploymentSpec {
  const { kind, spec } = read
  const project = keyOf(content.repository.project.metadata)
  const serviceAccountName = spec.objectName('serviceAccountName')
  return {
    source: { project, ...content.source },
    ...(kind === 'HelmRelease' ? releaseSpecOf(spec) : kustomizationSpecOf(spec)),
    ...destinationOf(read, world),
    ...dependenciesOf(read, world),
    ...(serviceAccountName !== undefined && { serviceAccountName }),
  }
}

function contentOf({ kind, spec, ref }: Read, repositories: ReadonlyMap<string, Repository | undefined>): Content | undefined {
  const target = spec.objectName('targetNamespace')
  const chart =
    kind === 'HelmRelease' ? chartOf(spec, spec.objectName('releaseName') ?? defaultReleaseName(ref, target)) : undefined
  const config = spec.record('kubeConfig')
  if (config && config.record('secretRef')?.objectName('name') === undefined) {
    config.tell('Berth knows clusters by a GitOpsDeploymentManagedEnvironment: make one.')
    return undefined
  }
  if (kind === 'HelmRelease' && !chart) return undefined
  const sourceRef = chart?.sourceRef ?? spec.record('sourceRef')
  const path = chart?.path ?? pathIn(spec, 'path')
  sourceRef?.pass('apiVersion')
  const [sourceKind, name, namespace = ref.namespace] = ['kind', 'name', 'namespace'].map((field) => sourceRef?.text(field))
  if (!SOURCE_KINDS.some((each) => each === sourceKind) || name === undefined) {
    spec.tell(`Berth follows no ${sourceKind ?? 'source without a name'}.`, 'sourceRef')
    return undefined
  }
  if (path === undefined) return undefined
  const title = `${sourceKind} ${keyOf({ name, namespace })}`
  const repository = repositories.get(title)
  if (repository) return { repository, source: sourceOf(repository, path, chart) }
  const why = repositories.has(title) ? 'has no match' : 'is not among what was given'
  sourceRef?.tell(`${title} ${why}, and without it nothing is known of the repository.`)
  return undefined
}

function sourceOf({ project, revision }: Repository, path: string, chart: ReleaseChart | undefined): Content['source'] {
  const { url } = project.spec
  const helm = chart && { helm: chart.helm }
  if (!chart?.published) return { repoURL: url, path, ...revision, ...helm }
  return { chart: { ...chartsAt(url), ...chart.published }, ...helm }
}

/** https://fluxcd.io/flux/components/helm/helmreleases/#release-name */
const defaultReleaseName = ({ name }: Ref, target: string | undefined): string =>
  target === undefined ? name : `${target}-${name}`

function destinationOf({ kind, spec, ref, place }: Follower, { environments }: World): Pick<GitOpsDeploymentSpec, 'destination'> {
  const secret = spec.record('kubeConfig')?.record('secretRef')?.objectName('name')
  if (secret === undefined) return {}
  const namespace = spec.objectName('targetNamespace') ?? (kind === 'HelmRelease' ? ref.namespace : undefined)
  // One of this name may be another one in another namespace.
  const environment = place === ref.namespace ? secret : environments.named(`${ref.namespace}-${secret}`)
  return elsewhere(spec, 'kubeConfig', { cluster: `in Secret ${ref.namespace}/${secret}`, environment, namespace })
}

function dependenciesOf({ kind, spec, ref, place }: Follower, { places }: World): Pick<GitOpsDeploymentSpec, 'dependsOn'> {
  const dependsOn = spec.records('dependsOn').flatMap((dependency) => {
    const [name = '', namespace = ref.namespace] = ['name', 'namespace'].map((field) => dependency.text(field))
    const found = places.get(titleOf(kind, { name, namespace }))
    if (!found) {
      dependency.tell(`${kind} ${namespace}/${name} was not given, or has no match.`)
      return []
    }
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

/** What is suspended writes nothing, and takes nothing with it when it is deleted. */
function releaseOf({ kind, title, ref: { name, namespace }, spec, content, metadata }: Follower): LettingGo {
  const { group, plural } = KINDS[kind]
  const at = `${plural}.${group} ${name} -n ${namespace}`
  // With this manager Flux leaves the field where another Kustomization applies this one.
  const stop = `kubectl patch ${at} --field-manager=flux-client-side-apply --type merge -p '{"spec":{"suspend":true}}'`
  // Helm's records outlive a HelmRelease that is suspended, and `helm uninstall` would go by them.
  const records = spec.objectName('storageNamespace') ?? namespace
  const release = content?.source.helm?.releaseName
  const forget =
    release !== undefined && !spec.has('kubeConfig') ? [`kubectl delete secrets -n ${records} -l owner=helm,name=${release}`] : []
  const parent = parentOf({ ...metadata, namespace }, title, [])
  return { parent, stop: [stop], part: [stop], remove: [`kubectl delete ${at}`, ...forget] }
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
