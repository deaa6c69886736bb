// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * What is deployed, where to, and how.
 */
export interface GitOpsDeploymentSpec {
  /**
   * Where the manifests are.
   */
  source: {
    /**
     * URL of the repository. A GitProject of that URL must exist and grant access.
     */
    repoURL: string
    /**
     * Directory in the repository; `.` is its root. A kustomization.yaml in it is honoured.
     */
    path: string
    /**
     * Branch, tag or commit. Without it the default branch of the repository.
     */
    targetRevision?: string
  }
  /**
   * Where it is deployed to. Without it, to the namespace of this object.
   */
  destination?: {
    /**
     * Name of a GitOpsDeploymentManagedEnvironment in the same namespace. Empty means the namespace of this object.
     */
    environment?: string
    /**
     * Namespace for objects that do not name one.
     */
    namespace?: string
  }
  /**
   * Details of how it is applied.
   */
  syncPolicy?: {
    /**
     * `CreateNamespace=true` makes the destination namespace when it is missing.
     */
    syncOptions?: ('CreateNamespace=true' | 'CreateNamespace=false')[]
  }
  /**
   * automated - each new commit is applied by itself. manual - only a GitOpsDeploymentSyncRun applies.
   */
  type: 'automated' | 'manual'
  /**
   * Service account in the namespace of this object as which is applied when the destination is that namespace. Without it `default`.
   */
  serviceAccountName?: string
  /**
   * Whether objects that left the repository are deleted.
   */
  prune?: boolean
  /**
   * Whether nothing is applied for the time being.
   */
  suspend?: boolean
  /**
   * How often the objects in the cluster are compared with the repository even when nothing was pushed, such as `10m`.
   */
  interval?: string
}

/**
 * What is in effect.
 */
export interface GitOpsDeploymentStatus {
  /**
   * Whether the cluster is as the repository says.
   */
  sync?: {
    /**
     * Unknown, Synced or OutOfSync.
     */
    status: 'Unknown' | 'Synced' | 'OutOfSync'
    /**
     * The commit that is in effect.
     */
    revision?: string
  }
  /**
   * How the deployed objects do.
   */
  health?: {
    /**
     * The worst health among the objects.
     */
    status?: 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended' | 'Missing' | 'Unknown'
    /**
     * Which object it is, and why.
     */
    message?: string
  }
  /**
   * The deployed objects.
   */
  resources?: {
    /**
     * API group; empty for the core group.
     */
    group?: string
    /**
     * API version.
     */
    version: string
    /**
     * Kind.
     */
    kind: string
    /**
     * Namespace; empty for cluster-scoped objects.
     */
    namespace?: string
    /**
     * Name.
     */
    name: string
    /**
     * Whether the object is as the repository says.
     */
    status?: 'Unknown' | 'Synced' | 'OutOfSync'
    /**
     * How the object does.
     */
    health?: {
      /**
       * Health of the object.
       */
      status?: 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended' | 'Missing' | 'Unknown'
      /**
       * Why.
       */
      message?: string
    }
  }[]
  /**
   * The source and destination that `sync` and `health` speak of.
   */
  reconciledState?: {
    /**
     * Source that was applied.
     */
    source: {
      /**
       * Directory.
       */
      path: string
      /**
       * Repository.
       */
      repoURL: string
      /**
       * Branch, tag or commit that was asked for.
       */
      branch: string
    }
    /**
     * Destination that was applied to.
     */
    destination: {
      /**
       * Managed environment; empty for the own namespace.
       */
      name: string
      /**
       * Namespace.
       */
      namespace: string
    }
  }
  /**
   * Where the list of everything that was applied is kept, so that it can be pruned.
   */
  inventory?: {
    /**
     * Namespace of the list, in the destination cluster.
     */
    namespace?: string
    /**
     * Name of the list.
     */
    name: string
    /**
     * How many objects are in it.
     */
    count?: number
  }
  /**
   * The GitOpsDeploymentSyncRun that was carried out last.
   */
  lastSyncRun?: {
    /**
     * UID of the run.
     */
    uid: string
    /**
     * Succeeded or Failed.
     */
    result: 'Succeeded' | 'Failed'
    /**
     * The commit that was applied.
     */
    revision?: string
    /**
     * Why it failed.
     */
    message?: string
  }
  /**
   * When something was applied last.
   */
  lastSyncTime?: string
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready, SyncError and ErrorOccurred.
   */
  conditions?: Condition[]
}
