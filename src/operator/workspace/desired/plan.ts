import type { V1Container, V1EnvFromSource, V1EnvVar, V1Volume, V1VolumeMount } from '@kubernetes/client-node'
import type { CoreSecret, Deployment, KubeObject, Workspace, WorkspaceClassSpec, WorkspaceStatus } from '../../../api/index.ts'
import type { Devfile } from '../../../devfile/index.ts'
import type { Piece } from '../../../engines/apply/index.ts'
import type { GitPlan } from '../git/index.ts'

/** Settings by which agentw opens tunnels. */
export interface TunnelSettings {
  /** Pods of workspaces reach kas here by gRPC, such as `grpcs://kas.example.com:443`. */
  kas: string
  /** Certificate authority of kas, PEM. */
  kasCa?: string | undefined
  /** Of Berth: what agentw runs from. */
  image: string
}

/** The frozen variables by names and kinds, never with values. */
export type FrozenVariables = NonNullable<WorkspaceStatus['variables']>

/** A volume that was made in advance. */
export interface WarmVolume {
  name: string
  claimUid: string
}

/** All that the objects of a workspace are made from. */
export interface WorkspacePlan {
  workspace: Workspace
  settings: WorkspaceClassSpec
  devfile: Devfile
  namespace: string
  /** The volume that was there before it, with its claim of this UID. */
  volume?: WarmVolume | undefined
  /** The backup that its volume is made from. */
  restored?: WorkspaceStatus['restoredFrom'] | undefined
  /** Its project, where it has one that can be cloned. */
  git?: GitPlan | undefined
  /** Only if its class has people let in through kas. */
  tunnel?: TunnelSettings | undefined
  /** The variables that were frozen for it. */
  variables: FrozenVariables
  /** Credentials for image registries, as they are where the class names them. */
  pullSecrets?: readonly CoreSecret[]
  /** Part of the name of the Secret with their values; another one for each refresh. */
  variablesMark?: string
  /** It was stopped, and its pods are not gone yet. */
  isEnding?: boolean
  /** Of its pods (form.ts); the newest without it. */
  form?: number | undefined
}

/** The objects of a workspace, in the order in which they are applied; the Deployment comes last. */
export interface DesiredObjects {
  pieces: Piece[]
  /** Objects that the devfile brings along. Their kinds are for the target to say. */
  manifests: KubeObject[]
  deployment: Deployment
}

/** An addition to a pod: to each of its containers, and beside them. */
export interface Addition {
  /** Run before the devfile's own, in this order. */
  initContainers?: V1Container[]
  /** Run as long as the devfile's own, and have nothing of theirs. */
  beside?: V1Container[]
  volumes?: V1Volume[]
  /** The devfile's environment wins over both. */
  env?: V1EnvVar[]
  envFrom?: V1EnvFromSource[]
  mounts?: V1VolumeMount[]
  /** The container that it is for; without it environment and mounts are for all. */
  only?: string
}
