import type { Problem } from './problem.ts'

/** A devfile whose parts agree with each other. Variables are filled in, defaults are written out. */
export interface Devfile {
  schemaVersion: string
  name: string | undefined
  /** At least one. The first is the main one unless another asks for the editor. */
  containers: Container[]
  volumes: Volume[]
  /** What is read but has no effect here. */
  warnings: Problem[]
}

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
  protocol: 'http' | 'https' | 'ws' | 'wss' | 'tcp' | 'udp'
  secure: boolean
  path: string
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
