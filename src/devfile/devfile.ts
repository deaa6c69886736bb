import type { YamlText } from '../std/index.ts'
import type { CommandPart, ComponentPart, DevfileParts } from './parts.ts'
import { at, dataOf, entriesOf, flagOf, itemsOf, numberOf, textOf, type YamlTree } from './tree.ts'
import { resolvedUri } from './uri.ts'

/** A devfile whose parts agree with each other: parents are merged, variables are filled in, defaults are written out. */
export type Devfile = ReturnType<typeof buildDevfile>
export type Container = ReturnType<typeof buildContainer>
export type Volume = Devfile['volumes'][number]
/** Kubernetes objects that belong to the workspace, written here or elsewhere. */
export type ManifestComponent = ReturnType<typeof buildManifest>[number]
/** An image to be built from a Dockerfile. */
export type Image = ReturnType<typeof buildImage>
export type DevfileEndpoint = ReturnType<typeof buildEndpoint>
export type EnvVar = ReturnType<typeof envOf>[number]
export type Command = {
  id: string
  label: string | undefined
  group: ReturnType<typeof groupOf>
  attributes: DevfileAttributes
} & (
  | { kind: 'exec'; commandLine: string; component: string; workingDir: string | undefined; env: EnvVar[]; hotReload: boolean }
  | { kind: 'apply'; component: string }
  | { kind: 'composite'; commands: string[]; parallel: boolean }
)
export type DevfileEvents = ReturnType<typeof buildEvents>
export type DevfileProject = ReturnType<typeof buildProject>
/** Free-form values as plain data. */
export type DevfileAttributes = Readonly<Record<string, unknown>>

/** Quantities as written: `500m`, `2Gi`. */
export interface Resources {
  cpuRequest?: string
  cpuLimit?: string
  memoryRequest?: string
  memoryLimit?: string
}

/** For a tree in which no problem was found. */
export function buildDevfile({ root, components, commands, findings }: DevfileParts) {
  const of = (kind: ComponentPart['kind']) => components.filter((component) => component.kind === kind)
  return {
    schemaVersion: textOf(at(root, 'schemaVersion')) ?? '',
    name: textOf(at(root, 'metadata', 'name')),
    attributes: attributesOf(root),
    /** At least one. The first is the main one unless another asks for the editor. */
    containers: of('container').map(buildContainer),
    volumes: of('volume').map(({ name, body }) => ({
      name,
      size: textOf(at(body, 'size')),
      /** Its content ends with the pod. */
      ephemeral: flagOf(at(body, 'ephemeral')) ?? false,
    })),
    /** Components of kind kubernetes and openshift. */
    manifests: components.flatMap(buildManifest),
    images: of('image').map(buildImage),
    commands: commands.flatMap(buildCommand),
    events: buildEvents(root, commands),
    projects: itemsOf(at(root, 'projects')).map(buildProject),
    starterProjects: itemsOf(at(root, 'starterProjects')).map(buildStarter),
    dependentProjects: itemsOf(at(root, 'dependentProjects')).map(buildProject),
    /** Fields that are read but do not do what their author may think. */
    warnings: findings.warnings,
  }
}

const EDITOR = ['gl/inject-editor', 'berth.dev/inject-editor']

function buildContainer({ name, tree, body }: ComponentPart) {
  const command = textsOf(at(body, 'command'))
  const args = textsOf(at(body, 'args'))
  const dedicatedPod = flagOf(at(body, 'dedicatedPod')) ?? false
  const hasEditor = EDITOR.some((key) => flagOf(at(tree, 'attributes', key)))
  return {
    name,
    image: textOf(at(body, 'image')) ?? '',
    command,
    args,
    env: envOf(at(body, 'env')),
    endpoints: itemsOf(at(body, 'endpoints')).map(buildEndpoint),
    volumeMounts: itemsOf(at(body, 'volumeMounts')).map((mount) => {
      const volume = textOf(at(mount, 'name')) ?? ''
      return { name: volume, path: textOf(at(mount, 'path')) ?? `/${volume}` }
    }),
    resources: resourcesOf(body),
    /** The project is mounted, at `sourceMapping`. */
    mountSources: flagOf(at(body, 'mountSources')) ?? !dedicatedPod,
    sourceMapping: textOf(at(body, 'sourceMapping')) ?? '/projects',
    /**
     * The entrypoint is replaced by something that stays: for images that would end at once. A container that gets the editor
     * stays alive by itself, unless it says what it runs.
     */
    overrideCommand: flagOf(at(tree, 'attributes', 'overrideCommand')) ?? (hasEditor && command.length + args.length === 0),
    /** It runs in a pod of its own. */
    dedicatedPod,
    annotations: { deployment: mapOf(at(body, 'annotation', 'deployment')), service: mapOf(at(body, 'annotation', 'service')) },
    attributes: attributesOf(tree),
  }
}

function resourcesOf(body: YamlTree | undefined): Resources {
  const resources: Resources = {}
  for (const field of ['cpuRequest', 'cpuLimit', 'memoryRequest', 'memoryLimit'] as const) {
    const text = textOf(at(body, field))
    if (text !== undefined) resources[field] = text
  }
  return resources
}

const EXPOSURES = ['public', 'internal', 'none'] as const
const PROTOCOLS = ['http', 'https', 'ws', 'wss', 'tcp', 'udp'] as const
const SECURED: Readonly<Record<string, (typeof PROTOCOLS)[number]>> = { http: 'https', ws: 'wss' }

function buildEndpoint(tree: YamlTree) {
  const protocol = oneOf(PROTOCOLS, at(tree, 'protocol')) ?? 'http'
  const secure = flagOf(at(tree, 'secure')) ?? false
  return {
    name: textOf(at(tree, 'name')) ?? '',
    targetPort: numberOf(at(tree, 'targetPort')) ?? 0,
    /** public - from outside. internal - from the cluster. none - only from within the workspace. */
    exposure: oneOf(EXPOSURES, at(tree, 'exposure')) ?? 'public',
    /** With `secure`, http is https and ws is wss. */
    protocol: (secure ? SECURED[protocol] : undefined) ?? protocol,
    secure,
    path: textOf(at(tree, 'path')) ?? '',
    attributes: attributesOf(tree),
    /** For the Ingress or Route that leads to it. */
    annotations: mapOf(at(tree, 'annotation')),
  }
}

/** `read`: what stands in the text, where somebody has looked. */
type ManifestSource = { uri: string } | { inlined: string; read?: YamlText }

function buildManifest({ name, kind, tree, body }: ComponentPart) {
  if (kind !== 'kubernetes' && kind !== 'openshift') return []
  const written = at(body, 'uri')
  const uri = textOf(written)
  /** A uri is seen from the first devfile, as those of parents are. */
  const source: ManifestSource =
    uri === undefined ? { inlined: textOf(at(body, 'inlined')) ?? '' } : { uri: resolvedUri(uri, written?.file ?? '') ?? uri }
  const endpoints = itemsOf(at(body, 'endpoints')).map(buildEndpoint)
  /** Left out, it depends on whether a command applies it: `isAppliedAtStart`. */
  const deployByDefault = flagOf(at(body, 'deployByDefault'))
  return [{ name, kind, source, endpoints, deployByDefault, attributes: attributesOf(tree) }]
}

function buildImage({ name, tree, body }: ComponentPart) {
  const dockerfile = at(body, 'dockerfile')
  return {
    name,
    imageName: textOf(at(body, 'imageName')) ?? '',
    dockerfile: {
      ...dockerfileSourceOf(dockerfile),
      buildContext: textOf(at(dockerfile, 'buildContext')),
      args: textsOf(at(dockerfile, 'args')),
      rootRequired: flagOf(at(dockerfile, 'rootRequired')) ?? false,
    },
    /** Left out, it depends on whether a command applies it: `isAppliedAtStart`. */
    autoBuild: flagOf(at(body, 'autoBuild')),
    attributes: attributesOf(tree),
  }
}

type DockerfileSource =
  | { from: 'uri'; uri: string }
  | { from: 'git'; git: ReturnType<typeof gitOf>; fileLocation: string | undefined }
  | { from: 'registry'; id: string; registryUrl: string | undefined }

function dockerfileSourceOf(tree: YamlTree | undefined): DockerfileSource {
  const git = at(tree, 'git')
  if (git) return { from: 'git', git: gitOf(git), fileLocation: textOf(at(git, 'fileLocation')) }
  const registry = at(tree, 'devfileRegistry')
  if (!registry) return { from: 'uri', uri: textOf(at(tree, 'uri')) ?? '' }
  return { from: 'registry', id: textOf(at(registry, 'id')) ?? '', registryUrl: textOf(at(registry, 'registryUrl')) }
}

function buildCommand({ id, kind, tree, body }: CommandPart): Command[] {
  const text = (field: string) => textOf(at(body, field))
  const head = { id, label: text('label'), group: groupOf(at(body, 'group')), attributes: attributesOf(tree) }
  const component = text('component') ?? ''
  if (kind === undefined) return []
  if (kind === 'apply') return [{ ...head, kind, component }]
  if (kind === 'composite')
    return [{ ...head, kind, commands: textsOf(at(body, 'commands')), parallel: flagOf(at(body, 'parallel')) ?? false }]
  const hotReload = flagOf(at(body, 'hotReloadCapable')) ?? false
  const commandLine = text('commandLine') ?? ''
  return [{ ...head, kind, commandLine, component, workingDir: text('workingDir'), env: envOf(at(body, 'env')), hotReload }]
}

const GROUPS = ['build', 'run', 'test', 'debug', 'deploy'] as const

function groupOf(tree: YamlTree | undefined) {
  const kind = oneOf(GROUPS, at(tree, 'kind'))
  return kind && { kind, isDefault: flagOf(at(tree, 'isDefault')) ?? false }
}

/** Ids of commands, as the commands spell them, in the order in which they run. */
function buildEvents(root: YamlTree, commands: readonly CommandPart[]) {
  const ids = new Map(commands.map(({ id }) => [id.toLowerCase(), id]))
  const of = (event: string) => textsOf(at(root, 'events', event)).map((id) => ids.get(id.toLowerCase()) ?? id)
  return { preStart: of('preStart'), postStart: of('postStart'), preStop: of('preStop'), postStop: of('postStop') }
}

function buildProject(tree: YamlTree) {
  const name = textOf(at(tree, 'name')) ?? ''
  return {
    name,
    /** Below the folder of the projects. */
    clonePath: textOf(at(tree, 'clonePath')) ?? name,
    source: sourceOf(tree),
    attributes: attributesOf(tree),
  }
}

const buildStarter = (tree: YamlTree) => ({
  name: textOf(at(tree, 'name')) ?? '',
  description: textOf(at(tree, 'description')),
  subDir: textOf(at(tree, 'subDir')),
  source: sourceOf(tree),
  attributes: attributesOf(tree),
})

type ProjectSource = { git: ReturnType<typeof gitOf> } | { zip: string }

function sourceOf(tree: YamlTree): ProjectSource {
  const git = at(tree, 'git')
  return git ? { git: gitOf(git) } : { zip: textOf(at(tree, 'zip', 'location')) ?? '' }
}

function gitOf(tree: YamlTree) {
  const remotes = mapOf(at(tree, 'remotes'))
  return {
    remotes,
    /** The remote to check out from; there is always one. */
    remote: textOf(at(tree, 'checkoutFrom', 'remote')) ?? Object.keys(remotes)[0] ?? '',
    /** Branch, tag or commit; left out, the default branch. */
    revision: textOf(at(tree, 'checkoutFrom', 'revision')),
  }
}

function attributesOf(tree: YamlTree): DevfileAttributes {
  return Object.fromEntries([...entriesOf(at(tree, 'attributes'))].map(([name, { value }]) => [name, dataOf(value)]))
}

const textsOf = (tree: YamlTree | undefined): string[] => itemsOf(tree).map((item) => textOf(item) ?? '')

const mapOf = (tree: YamlTree | undefined): Record<string, string> =>
  Object.fromEntries([...entriesOf(tree)].map(([name, { value }]) => [name, textOf(value) ?? '']))

const envOf = (tree: YamlTree | undefined) =>
  itemsOf(tree).map((item) => ({ name: textOf(at(item, 'name')) ?? '', value: textOf(at(item, 'value')) ?? '' }))

function oneOf<const T extends string>(words: readonly T[], tree: YamlTree | undefined): T | undefined {
  const text = textOf(tree)
  return words.find((word) => word === text)
}

/** A component that no command applies is there from the start, unless it says otherwise. */
export function isAppliedAtStart({ commands }: Devfile, component: Container | ManifestComponent | Image): boolean {
  const wanted =
    'deployByDefault' in component ? component.deployByDefault : 'autoBuild' in component ? component.autoBuild : undefined
  return wanted ?? !commands.some((command) => command.kind === 'apply' && command.component === component.name)
}
