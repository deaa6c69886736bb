// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * What to synchronise. Cannot be changed; make another run instead.
 */
export interface GitOpsDeploymentSyncRunSpec {
  /**
   * Name of a GitOpsDeployment in the same namespace.
   */
  gitopsDeploymentName: string
  /**
   * Commit, branch or tag to apply. Without it the `targetRevision` of the GitOpsDeployment.
   */
  revisionID?: string
}

/**
 * How it went.
 */
export interface GitOpsDeploymentSyncRunStatus {
  /**
   * Pending, Running, Succeeded or Failed.
   */
  phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed'
  /**
   * The commit that was applied.
   */
  revision?: string
  /**
   * When it began.
   */
  startedAt?: string
  /**
   * When it ended.
   */
  completedAt?: string
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready, True when it succeeded.
   */
  conditions?: Condition[]
}
