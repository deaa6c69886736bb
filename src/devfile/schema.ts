/**
 * The devfile schema as a table: which fields there are, since when, of what shape. Four things read it: the check of shapes,
 * the filling in of variables (`filled`), the merging of overrides (`key`, `replaces`) and the message that lists the fields.
 * Source: devfile/api, schemas at the tags 2.0.0 to 2.3.0, as compared in the inventory of workspaces, section 3.
 */
export type Shape =
  | TextShape
  | ListShape
  | FieldsShape
  | { is: 'flag' }
  | { is: 'integer'; least: number; most: number }
  | { is: 'word'; words: Readonly<Record<string, SchemaVersion>> }
  | { is: 'texts'; filled: boolean }
  | { is: 'free' }

export interface TextShape {
  is: 'text'
  /** `{{ name }}` in it stands for a variable of the devfile. */
  filled: boolean
  /** `says` stands behind the text: `"Tools" must be …`. */
  format?: { rule: string; pattern: Pick<RegExp, 'test'>; says: string; remedy?: string }
}

export interface ListShape {
  is: 'list'
  of: Shape
  /** The field by which an override finds what it overrides; without one, an override replaces the whole list. */
  key?: 'name' | 'id'
}

export interface FieldsShape {
  is: 'fields'
  fields: ReadonlyMap<string, SchemaField>
  /** Exactly one of these. */
  oneOf: readonly string[]
  /** Fields that are not listed are let through. */
  isOpen: boolean
  /** It is a patch: nothing but the key has to be there. */
  isPatch: boolean
}

interface SchemaField {
  shape: Shape
  since: SchemaVersion
  isRequired: boolean
  /** Only templates of the cluster (DevWorkspaceTemplate) have it; devfiles in files do not. */
  isOfTemplates: boolean
}

/** 20202 is 2.2.2. */
export type SchemaVersion = number

export const OLDEST = 20_000
const V2_1 = 20_100
const V2_2 = 20_200
const V2_2_2 = 20_202
export const NEWEST = 20_300

export const versionText = (version: SchemaVersion): string =>
  `${Math.floor(version / 10_000)}.${Math.floor(version / 100) % 100}.${version % 100}`

const field = (shape: Shape): SchemaField => ({ shape, since: OLDEST, isRequired: false, isOfTemplates: false })
const required = (given: Shape): SchemaField => ({ ...field(given), isRequired: true })
const since = (version: SchemaVersion, given: Shape): SchemaField => ({ ...field(given), since: version })
const ofTemplates = (given: Shape): SchemaField => ({ ...field(given), isOfTemplates: true })

const text: TextShape = { is: 'text', filled: false }
const filled: TextShape = { is: 'text', filled: true }
const flag: Shape = { is: 'flag' }
const free: Shape = { is: 'free' }
const texts: Shape = { is: 'texts', filled: false }
const formatted = (format: NonNullable<TextShape['format']>): TextShape => ({ ...text, format })
const list = (of: Shape, key?: 'name' | 'id'): ListShape => ({ is: 'list', of, ...(key && { key }) })
const word = (...words: string[]) => ({ is: 'word', words: Object.fromEntries(words.map((each) => [each, OLDEST])) }) as const

function fields(given: Record<string, Shape | SchemaField>, ...oneOf: string[]): FieldsShape {
  const each = Object.entries(given).map(([name, of]) => [name, 'shape' in of ? of : field(of)] as const)
  return { is: 'fields', fields: new Map(each), oneOf, isOpen: false, isPatch: false }
}

const NAME = formatted({
  rule: 'name',
  pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
  says: "must be at most 63 lower case letters, digits and '-', beginning and ending with a letter or digit",
})
/** The file schema has 15 where the CRD has 63: a port of a Service may not be called longer. */
const ENDPOINT_NAME = formatted({
  rule: 'endpoint-name',
  pattern: /^[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$/,
  says: "must be at most 15 lower case letters, digits and '-', beginning and ending with a letter or digit",
})
const SEMVER = /^\d+\.\d+\.\d+(-[0-9a-z-]+(\.[0-9a-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/

const LATEST_OR_SEMVER = { test: (written: string) => written === 'latest' || SEMVER.test(written) }

const ENV = list(fields({ name: required(filled), value: required(filled) }), 'name')

const ENDPOINT = fields({
  name: required(ENDPOINT_NAME),
  targetPort: required({ is: 'integer', least: 1, most: 65_535 }),
  exposure: word('public', 'internal', 'none'),
  protocol: word('http', 'https', 'ws', 'wss', 'tcp', 'udp'),
  secure: flag,
  path: filled,
  attributes: free,
  annotation: since(V2_2, texts),
})

const CONTAINER = fields({
  image: required(filled),
  command: list(filled),
  args: list(filled),
  env: ENV,
  endpoints: list(ENDPOINT, 'name'),
  volumeMounts: list(fields({ name: required(NAME), path: filled }), 'name'),
  cpuRequest: since(V2_1, text),
  cpuLimit: since(V2_1, text),
  memoryRequest: since(V2_1, filled),
  memoryLimit: filled,
  mountSources: flag,
  sourceMapping: filled,
  dedicatedPod: flag,
  annotation: since(V2_2, fields({ deployment: texts, service: texts })),
})

const MANIFEST = fields(
  { uri: filled, inlined: filled, endpoints: list(ENDPOINT, 'name'), deployByDefault: since(V2_2, flag) },
  'uri',
  'inlined',
)

const CHECKOUT = fields({ revision: filled, remote: filled })
const GIT = fields({ remotes: { is: 'texts', filled: true }, checkoutFrom: CHECKOUT })

const DOCKERFILE = fields(
  {
    uri: filled,
    git: fields({ remotes: { is: 'texts', filled: true }, checkoutFrom: CHECKOUT, fileLocation: filled }),
    devfileRegistry: fields({ id: required(filled), registryUrl: filled }),
    buildContext: filled,
    args: list(filled),
    rootRequired: flag,
  },
  'uri',
  'git',
  'devfileRegistry',
)
const IMAGE = fields({ imageName: required(filled), dockerfile: DOCKERFILE, autoBuild: flag }, 'dockerfile')
const VOLUME = fields({ size: filled, ephemeral: since(V2_1, flag) })

const GROUP = fields({
  kind: required({ is: 'word', words: { ...word('build', 'run', 'test', 'debug').words, deploy: V2_2 } }),
  isDefault: flag,
})

const COMMAND = fields(
  {
    id: required(NAME),
    attributes: free,
    exec: fields({
      commandLine: required(filled),
      component: required(text),
      workingDir: filled,
      env: ENV,
      label: filled,
      group: GROUP,
      hotReloadCapable: flag,
    }),
    apply: fields({ component: required(text), label: filled, group: GROUP }),
    composite: fields({ commands: list(text), parallel: flag, label: filled, group: GROUP }),
  },
  'exec',
  'apply',
  'composite',
)

const ZIP = fields({ location: required(filled) })
const PROJECT = fields({ name: required(NAME), clonePath: filled, git: GIT, zip: ZIP, attributes: free }, 'git', 'zip')
const STARTER = fields(
  { name: required(NAME), description: filled, subDir: filled, git: GIT, zip: ZIP, attributes: free },
  'git',
  'zip',
)

const CONCRETE = {
  name: required(NAME),
  attributes: free,
  container: CONTAINER,
  volume: VOLUME,
  kubernetes: MANIFEST,
  openshift: MANIFEST,
  image: since(V2_2, IMAGE),
}
const KINDS = ['container', 'volume', 'kubernetes', 'openshift', 'image']
const COMPONENT_PATCH = list(patch(fields(CONCRETE, ...KINDS), 'name'), 'name')
const COMMAND_PATCH = list(patch(COMMAND, 'id'), 'id')

const IMPORT = {
  uri: text,
  id: text,
  registryUrl: text,
  version: since(V2_2, formatted({ rule: 'type', pattern: LATEST_OR_SEMVER, says: 'is neither "latest" nor a version' })),
  kubernetes: fields({ name: required(text), namespace: text }),
}
const PLUGIN = fields({ ...IMPORT, components: COMPONENT_PATCH, commands: COMMAND_PATCH }, 'uri', 'id', 'kubernetes')
const COMPONENT = fields({ ...CONCRETE, plugin: ofTemplates(PLUGIN) }, ...KINDS, 'plugin')

const PARENT = fields(
  {
    ...IMPORT,
    attributes: since(V2_1, free),
    variables: since(V2_1, texts),
    components: COMPONENT_PATCH,
    commands: COMMAND_PATCH,
    projects: list(patch(PROJECT, 'name'), 'name'),
    starterProjects: list(patch(STARTER, 'name'), 'name'),
    dependentProjects: since(V2_2_2, list(patch(PROJECT, 'name'), 'name')),
  },
  'uri',
  'id',
  'kubernetes',
)

const METADATA: FieldsShape = {
  ...fields({
    name: text,
    version: formatted({ rule: 'type', pattern: SEMVER, says: 'is not a version', remedy: 'write 1.0.0' }),
    displayName: text,
    description: text,
    tags: list(text),
    architectures: list(text),
    icon: text,
    globalMemoryLimit: text,
    projectType: text,
    language: text,
    provider: text,
    supportUrl: text,
    website: text,
    attributes: free,
  }),
  isOpen: true,
}

const CONTENT = {
  attributes: since(V2_1, free),
  variables: since(V2_1, texts),
  parent: PARENT,
  components: list(COMPONENT, 'name'),
  commands: list(COMMAND, 'id'),
  events: fields({ preStart: list(text), postStart: list(text), preStop: list(text), postStop: list(text) }),
  projects: list(PROJECT, 'name'),
  starterProjects: list(STARTER, 'name'),
  dependentProjects: since(V2_2_2, list(PROJECT, 'name')),
}

/** A devfile in a file. */
export const DEVFILE = fields({ schemaVersion: required(text), metadata: METADATA, ...CONTENT })

/** A DevWorkspaceTemplate has this in its `spec`: the same without the head. */
export const TEMPLATE = fields({ schemaVersion: text, metadata: METADATA, ...CONTENT })

/** The same fields for an override: only the key must be there, and whatever is inside may be a part. */
function patch(shape: FieldsShape, key?: string): FieldsShape {
  const each = [...shape.fields].map(
    ([name, of]) => [name, { ...of, shape: patched(of.shape), isRequired: name === key }] as const,
  )
  return { ...shape, fields: new Map(each), isPatch: true }
}

function patched(shape: Shape): Shape {
  if (shape.is === 'fields') return patch(shape)
  return shape.is === 'list' && shape.of.is === 'fields' ? { ...shape, of: patch(shape.of, shape.key) } : shape
}
