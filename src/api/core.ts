import type {
  V1DeploymentSpec,
  V1JobSpec,
  V1PersistentVolumeClaimSpec,
  V1PodSpec,
  V1ServiceSpec,
  V1StatefulSetSpec,
} from '@kubernetes/client-node'
import { type KubeObject, kindsOf } from './kube-object.ts'

/** A condition of a built-in kind. Unlike ours it may lack a reason, a message and a time. */
export interface CoreCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string
}

export type Quantities = Record<string, number | string>

export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] }
  status?: { phase?: string; conditions?: CoreCondition[] }
}

/** `data` is base64; `stringData` is accepted when written and never returned. */
export interface CoreSecret extends KubeObject {
  type?: string
  immutable?: boolean
  data?: Record<string, string>
  stringData?: Record<string, string>
  /** Never sent: why a cache has kept the metadata only. */
  leftOut?: string
}

export interface ConfigMap extends KubeObject {
  immutable?: boolean
  data?: Record<string, string>
}

export interface ServiceAccount extends KubeObject {
  automountServiceAccountToken?: boolean
  imagePullSecrets?: { name: string }[]
}

export interface ResourceQuota extends KubeObject {
  spec?: { hard?: Quantities }
  status?: { hard?: Quantities; used?: Quantities }
}

export interface LimitRangeItem {
  type: string
  default?: Quantities
  defaultRequest?: Quantities
  max?: Quantities
  min?: Quantities
  maxLimitRequestRatio?: Quantities
}

export interface LimitRange extends KubeObject {
  spec?: { limits: LimitRangeItem[] }
}

export interface Service extends KubeObject {
  spec?: V1ServiceSpec
}

export interface PersistentVolumeClaim extends KubeObject {
  spec?: V1PersistentVolumeClaimSpec
  status?: { phase?: string; conditions?: CoreCondition[]; capacity?: Quantities }
}

export interface ContainerStatus {
  name: string
  ready: boolean
  /** Its startup probe has succeeded, if it has one. */
  started?: boolean
  restartCount: number
  image?: string
  state?: ContainerState
  lastState?: ContainerState
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string }
  running?: { startedAt?: string }
  terminated?: { exitCode: number; reason?: string; message?: string; startedAt?: string; finishedAt?: string }
}

export interface Pod extends KubeObject {
  spec?: V1PodSpec
  status?: {
    phase?: string
    reason?: string
    message?: string
    podIP?: string
    startTime?: string
    conditions?: CoreCondition[]
    containerStatuses?: ContainerStatus[]
    initContainerStatuses?: ContainerStatus[]
  }
}

/** An Event, by which a component of the cluster says something of an object. Named apart from the DOM's Event. */
export interface CoreEvent extends KubeObject {
  type?: string
  reason?: string
  message?: string
  count?: number
  firstTimestamp?: string | null
  lastTimestamp?: string | null
  /** Set by newer reporters, which leave the other times out. */
  eventTime?: string | null
  series?: { count: number; lastObservedTime: string }
  involvedObject: { kind?: string; name?: string; namespace?: string; uid?: string; fieldPath?: string }
}

/** When it was said last: a time of the cluster's, as text. */
export const lastSaidAt = ({ series, lastTimestamp, eventTime, firstTimestamp, metadata }: CoreEvent): string =>
  series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp ?? ''

export interface Deployment extends KubeObject {
  spec?: V1DeploymentSpec
  status?: {
    observedGeneration?: number
    replicas?: number
    readyReplicas?: number
    updatedReplicas?: number
    availableReplicas?: number
    unavailableReplicas?: number
    conditions?: CoreCondition[]
  }
}

export interface Job extends KubeObject {
  spec?: V1JobSpec
  status?: { conditions?: CoreCondition[] }
}

export interface StatefulSet extends KubeObject {
  spec?: V1StatefulSetSpec
  status?: {
    observedGeneration?: number
    replicas?: number
    readyReplicas?: number
    updatedReplicas?: number
    currentRevision?: string
    updateRevision?: string
  }
}

export interface PolicyRule {
  apiGroups?: string[]
  resources?: string[]
  resourceNames?: string[]
  verbs: string[]
  nonResourceURLs?: string[]
}

export interface Role extends KubeObject {
  rules?: PolicyRule[]
}

export interface ClusterRole extends KubeObject {
  rules?: PolicyRule[]
}

export interface Subject {
  kind: 'ServiceAccount' | 'User' | 'Group'
  name: string
  namespace?: string
  apiGroup?: string
}

export interface RoleBinding extends KubeObject {
  roleRef: { apiGroup: string; kind: 'Role' | 'ClusterRole'; name: string }
  subjects?: Subject[]
}

export interface ClusterRoleBinding extends KubeObject {
  roleRef: { apiGroup: string; kind: 'ClusterRole'; name: string }
  subjects?: Subject[]
}

/** `spec` stays loose: it is passed through from tiers and classes, never looked into. */
export interface NetworkPolicy extends KubeObject {
  spec?: Record<string, unknown>
}

export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string
    leaseDurationSeconds?: number
    acquireTime?: string
    renewTime?: string
    leaseTransitions?: number
  }
}

/** What says which fields a kind has. It has more; the rest is the API server's. */
export interface FieldSchema {
  type?: string
  default?: unknown
  properties?: Record<string, FieldSchema>
  items?: FieldSchema
  additionalProperties?: FieldSchema | boolean
  'x-kubernetes-preserve-unknown-fields'?: boolean
}

export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string
    scope: 'Namespaced' | 'Cluster'
    names: { kind: string; plural: string; singular?: string; shortNames?: string[]; categories?: string[] }
    versions: { name: string; served: boolean; storage: boolean; schema?: { openAPIV3Schema?: FieldSchema } }[]
  }
  status?: { conditions?: CoreCondition[] }
}

/** The answer of `…/serviceaccounts/<name>/token`. */
export interface TokenRequest {
  status?: { token: string }
}

const core = kindsOf('', 'v1')
const apps = kindsOf('apps', 'v1')
const rbac = kindsOf('rbac.authorization.k8s.io', 'v1')

export const Namespaces = core<Namespace>('Namespace', 'namespaces', false)
export const Nodes = core<KubeObject>('Node', 'nodes', false)
export const Secrets = core<CoreSecret>('Secret', 'secrets')
export const ConfigMaps = core<ConfigMap>('ConfigMap', 'configmaps')
export const ServiceAccounts = core<ServiceAccount>('ServiceAccount', 'serviceaccounts')
export const ResourceQuotas = core<ResourceQuota>('ResourceQuota', 'resourcequotas')
export const LimitRanges = core<LimitRange>('LimitRange', 'limitranges')
export const Services = core<Service>('Service', 'services')
export const PersistentVolumeClaims = core<PersistentVolumeClaim>('PersistentVolumeClaim', 'persistentvolumeclaims')
export const Pods = core<Pod>('Pod', 'pods')
export const CoreEvents = core<CoreEvent>('Event', 'events')
export const Deployments = apps<Deployment>('Deployment', 'deployments')
export const Jobs = kindsOf('batch', 'v1')<Job>('Job', 'jobs')
export const Roles = rbac<Role>('Role', 'roles')
export const RoleBindings = rbac<RoleBinding>('RoleBinding', 'rolebindings')
export const ClusterRoles = rbac<ClusterRole>('ClusterRole', 'clusterroles', false)
export const ClusterRoleBindings = rbac<ClusterRoleBinding>('ClusterRoleBinding', 'clusterrolebindings', false)
export const NetworkPolicies = kindsOf('networking.k8s.io', 'v1')<NetworkPolicy>('NetworkPolicy', 'networkpolicies')
export const Leases = kindsOf('coordination.k8s.io', 'v1')<Lease>('Lease', 'leases')
export const CustomResourceDefinitions = kindsOf('apiextensions.k8s.io', 'v1')<CustomResourceDefinition>(
  'CustomResourceDefinition',
  'customresourcedefinitions',
  false,
)
