// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * How to reach the cluster.
 */
export interface GitOpsDeploymentManagedEnvironmentSpec {
  /**
   * URL of the Kubernetes API, starting with `https://`. Must equal the `server` of a cluster in the kubeconfig of the secret.
   */
  apiURL: string
  /**
   * Name of a Secret of type `managed-gitops.redhat.com/managed-environment` in the same namespace, with a kubeconfig under the key `kubeconfig`.
   */
  credentialsSecret: string
  /**
   * Do not verify the certificate of the API server. For development only. Default: false.
   */
  allowInsecureSkipTLSVerify?: boolean
  /**
   * Make a service account of its own in the cluster and use that instead of the credentials given.
   */
  createNewServiceAccount?: boolean
  /**
   * Namespaces that may be deployed to. Empty means all.
   */
  namespaces?: string[]
  /**
   * Whether cluster-scoped objects may be deployed too. Ignored without `namespaces`.
   */
  clusterResources?: boolean
  /**
   * Kinds that may be deployed. Empty means all.
   */
  allowedKinds?: {
    /**
     * API group; empty for the core group, `*` for every group.
     */
    group: string
    /**
     * Kind; `*` for every kind of the group.
     */
    kind: string
  }[]
  /**
   * Whether namespaces may be deployed with labels `pod-security.kubernetes.io/*`, which decide what pods may do. Default: false.
   */
  podSecurityLabels?: boolean
}

/**
 * What the last connection check said.
 */
export interface GitOpsDeploymentManagedEnvironmentStatus {
  /**
   * When the connection was checked last. Exact when the verdict changed, else to the hour.
   */
  lastCheckTime?: string
  /**
   * The version that the API server told.
   */
  serverVersion?: string
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready and ConnectionInitializationSucceeded.
   */
  conditions?: Condition[]
}
