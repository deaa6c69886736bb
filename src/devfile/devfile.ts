import type { Problem } from './problem.ts'

/** A devfile whose parts agree with each other: parents are merged, variables are filled in, defaults are written out. */
export interface Devfile {
  schemaVersion: string
  name: string | undefined
  /** Free-form, as all attributes are. */
  attributes: Attributes
  /** At least one. The first is the main one unless another asks for the editor. */
  containers: Container[]
  volumes: Volume[]
  /** Components of kind kubernetes and openshift. */
  manifests: Manifest[]
  images: Image[]
  commands: Command[]
  events: Events
  projects: Project[]
  starterProjects: StarterProject[]
  dependentProjects: Project[]
  /** What is read but does not do what its author may think. */
  warnings: Problem[]
}

export type Attributes = Readonly<Record<string, unknown>>

export interface Container {
  name: string
  image: string
  command: string[]
  args: string[]
  env: EnvVar[]
  endpoints: Endpoint[]
  volumeMounts: VolumeMount[]
  resources: Resources
  /** Whether the project is mounted, and where. */
  mountSources: boolean
  sourceMapping: string
  /** The entrypoint is replaced by something that stays: for images that would end at once. */
  overrideCommand: boolean
  /** It runs in a pod of its own. */
  dedicatedPod: boolean
  annotations: { deployment: Readonly<Record<string, string>>; service: Readonly<Record<string, string>> }
  attributes: Attributes
}

export interface EnvVar {
  name: string
  value: string
}

export interface Endpoint {
  name: string
  targetPort: number
  /** public - from outside. internal - from the cluster. none - only from within the workspace. */
  exposure: 'public' | 'internal' | 'none'
  /** With `secure`, http is https and ws is wss. */
  protocol: 'http' | 'https' | 'ws' | 'wss' | 'tcp' | 'udp'
  secure: boolean
  path: string
  attributes: Attributes
  /** For the Ingress or Route that leads to it. */
  annotations: Readonly<Record<string, string>>
}

export interface VolumeMount {
  name: string
  path: string
}

/** Quantities as written: `500m`, `2Gi`. */
export interface Resources {
  cpuRequest?: string
  cpuLimit?: string
  memoryRequest?: string
  memoryLimit?: string
}

export interface Volume {
  name: string
  size: string | undefined
  /** Its content ends with the pod. */
  ephemeral: boolean
}

/** Kubernetes objects that belong to the workspace, written here or elsewhere. */
export interface Manifest {
  name: string
  kind: 'kubernetes' | 'openshift'
  /** A uri is seen from the first devfile, as those of parents are. */
  source: { uri: string } | { inlined: string }
  endpoints: Endpoint[]
  /** Left out, it depends on whether a command applies it: `isAppliedAtStart`. */
  deployByDefault: boolean | undefined
  attributes: Attributes
}

/** An image to be built from a Dockerfile. */
export interface Image {
  name: string
  imageName: string
  dockerfile: DockerfileSource & { buildContext: string | undefined; args: string[]; rootRequired: boolean }
  /** Left out, it depends on whether a command applies it: `isAppliedAtStart`. */
  autoBuild: boolean | undefined
  attributes: Attributes
}

export type DockerfileSource =
  | { from: 'uri'; uri: string }
  | { from: 'git'; git: GitSource; fileLocation: string | undefined }
  | { from: 'registry'; id: string; registryUrl: string | undefined }

export type Command = { id: string; label: string | undefined; group: Group | undefined; attributes: Attributes } & (
  | { kind: 'exec'; commandLine: string; component: string; workingDir: string | undefined; env: EnvVar[]; hotReload: boolean }
  | { kind: 'apply'; component: string }
  | { kind: 'composite'; commands: string[]; parallel: boolean }
)

export interface Group {
  kind: 'build' | 'run' | 'test' | 'debug' | 'deploy'
  isDefault: boolean
}

/** Ids of commands, as the commands spell them, in the order in which they run. */
export interface Events {
  preStart: string[]
  postStart: string[]
  preStop: string[]
  postStop: string[]
}

export interface GitSource {
  remotes: Readonly<Record<string, string>>
  /** The remote to check out from; there is always one. */
  remote: string
  /** Branch, tag or commit; left out, the default branch. */
  revision: string | undefined
}

export type ProjectSource = { git: GitSource } | { zip: string }

export interface Project {
  name: string
  /** Below the folder of the projects. */
  clonePath: string
  source: ProjectSource
  attributes: Attributes
}

export interface StarterProject {
  name: string
  description: string | undefined
  subDir: string | undefined
  source: ProjectSource
  attributes: Attributes
}

/** Whether a component is there from the start: what no command applies is, unless it says otherwise. */
export function isAppliedAtStart({ commands }: Devfile, component: Container | Manifest | Image): boolean {
  const wanted =
    'deployByDefault' in component ? component.deployByDefault : 'autoBuild' in component ? component.autoBuild : undefined
  return wanted ?? !commands.some((command) => command.kind === 'apply' && command.component === component.name)
}
