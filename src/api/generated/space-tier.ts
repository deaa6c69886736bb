// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * What goes into each namespace of the tier.
 */
export interface SpaceTierSpec {
  /**
   * A namespace that has as many spaces, of whatever tier, gets no more of this one; -1 means any number. Default: -1.
   */
  spacesPerNamespaceQuota?: number
  /**
   * Labels for the namespace.
   */
  labels?: Record<string, string>
  /**
   * Annotations for the namespace.
   */
  annotations?: Record<string, string>
  /**
   * Level of the Pod Security Standards that the namespace enforces. Default: restricted.
   */
  podSecurityLevel?: 'privileged' | 'baseline' | 'restricted'
  /**
   * Hard limits of the ResourceQuota, such as `pods` or `requests.cpu`. Empty means no quota.
   */
  quota?: Record<string, number | string>
  /**
   * Limits of the LimitRange, as in its own `spec.limits`. Empty means none.
   */
  limitRange?: {
    /**
     * What the limit is for.
     */
    type: 'Container' | 'Pod' | 'PersistentVolumeClaim'
    /**
     * Default limits of a container.
     */
    default?: Record<string, number | string>
    /**
     * Default requests of a container.
     */
    defaultRequest?: Record<string, number | string>
    /**
     * The most that may be asked for.
     */
    max?: Record<string, number | string>
    /**
     * The least that must be asked for.
     */
    min?: Record<string, number | string>
    /**
     * How much a limit may exceed its request.
     */
    maxLimitRequestRatio?: Record<string, number | string>
  }[]
  /**
   * NetworkPolicies for the namespace.
   */
  networkPolicies?: {
    /**
     * Name of the NetworkPolicy.
     */
    name: string
    /**
     * The `spec` of the NetworkPolicy, as it is.
     */
    spec: Record<string, unknown>
  }[]
  /**
   * Name of the service account whose credentials the requester gets. Empty means that there is none, and no Secret. Default: namespace-manager.
   */
  serviceAccountName?: string
  /**
   * ClusterRole that the service account gets in the namespace. Of `admin` and `edit` it gets all but the rights to Berth's own kinds (ClusterRoles `berth-space-admin` and `berth-space-edit`).
   */
  clusterRole?: string
  /**
   * Roles that are made in the namespace and given to the service account. Neither these nor `clusterRole` means the ClusterRole `admin`.
   */
  roles?: {
    /**
     * Name of the Role.
     */
    name: string
    /**
     * What it permits.
     */
    rules: {
      /**
       * API groups; "" is the core group.
       */
      apiGroups?: string[]
      /**
       * Plural names of kinds.
       */
      resources?: string[]
      /**
       * Names of objects; empty means all.
       */
      resourceNames?: string[]
      /**
       * What may be done with them.
       */
      verbs: string[]
    }[]
  }[]
  /**
   * How long a token lives, such as `24h`; it is renewed when four fifths of that are over. Default: 24h.
   */
  tokenLifetime?: string
}

/**
 * What is known about the tier.
 */
export interface SpaceTierStatus {
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready.
   */
  conditions?: Condition[]
}
