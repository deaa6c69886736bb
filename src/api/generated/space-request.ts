// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * What is asked for.
 */
export interface SpaceRequestSpec {
  /**
   * Name of the SpaceTier that says what the namespace looks like.
   */
  tierName: string
  /**
   * Roles that the cluster must have. Empty means this cluster.
   */
  targetClusterRoles?: string[]
  /**
   * What the namespace must have room for. Narrows the quota of the tier; more than the tier gives is refused.
   */
  resources?: {
    /**
     * The least - by name (`cpu`, `memory`, …), as Kubernetes quantities.
     */
    requests?: Record<string, number | string>
    /**
     * The most - by name, as Kubernetes quantities.
     */
    limits?: Record<string, number | string>
  }
  /**
   * Whether the people who may use the parent space may not use this one.
   */
  disableInheritance?: boolean
}

/**
 * What was provisioned.
 */
export interface SpaceRequestStatus {
  /**
   * URL of the Kubernetes API of the cluster that has the namespace.
   */
  targetClusterURL?: string
  /**
   * The namespaces, and where the credentials for each are.
   */
  namespaceAccess?: {
    /**
     * Name of the namespace.
     */
    name: string
    /**
     * Name of the Secret in the namespace of the request, or of a private one in the namespace itself, with a kubeconfig under the key `kubeconfig`. Empty when the tier has no service account.
     */
    secretRef: string
    /**
     * When the token in the Secret expires. It is renewed long before.
     */
    expiresAt?: string
    /**
     * The Agent, as `namespace/name`, in whose cluster the namespace is. Absent where it is in this one.
     */
    agent?: string
    /**
     * Where the namespace is in the cluster of an Agent, the service account there as which kas lets in who shows the token.
     */
    serviceAccountName?: string
  }[]
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready, with the reasons Provisioning, Provisioned, UnableToProvision, Terminating and UnableToTerminate, and ErrorOccurred, whose reason says which mistake has to be mended.
   */
  conditions?: Condition[]
}
