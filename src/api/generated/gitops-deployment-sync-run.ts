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
   * Commit, branch or tag to apply, of a GitOpsDeployment that is manual or takes its commits from another one. Without it the one that the GitOpsDeployment is to have.
   */
  revisionID?: string
  /**
   * What the person who asks for it was shown. It stays as a record; who it was stands in the annotation `berth.dev/requester`.
   */
  approval?: {
    /**
     * The commit that was in effect then, empty where there was none. Where it is another one by now, the run fails, for it would do something else.
     */
    from: string
    /**
     * The generation of the GitOpsDeployment's spec then. Where it is another one by now, the run fails, too.
     */
    generation?: number
    /**
     * What a dry run said then.
     */
    seen: string
  }
  /**
   * Whether it is only told, in `status.dryRun`, what would be done. Nothing is applied; also for a GitOpsDeployment that is automated or suspended. Default: false.
   */
  dryRun?: boolean
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
   * The commit that was applied, or compared with.
   */
  revision?: string
  /**
   * What a synchronisation would do, as found by a dry run on the server with the rights of the tenant. Values of Secrets are not shown.
   */
  dryRun?: {
    /**
     * How many objects would be made.
     */
    create: number
    /**
     * How many objects would be changed.
     */
    change: number
    /**
     * How many objects would be deleted.
     */
    delete: number
    /**
     * How many objects would be deleted when somebody has confirmed it.
     */
    hold: number
    /**
     * How many objects would not be accepted.
     */
    refuse: number
    /**
     * How many objects are as they should be, or are left as they are.
     */
    unchanged: number
    /**
     * How many objects are counted and not listed, for they are too many or too large.
     */
    omitted?: number
    /**
     * What would be done with which object.
     */
    objects?: {
      /**
       * API group; empty for the core group.
       */
      group?: string
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
       * Create, Change, Delete; Hold - deleted when somebody has confirmed it; Leave - left as it is, for the reason in `message`; Refuse - not accepted.
       */
      would: 'Create' | 'Change' | 'Delete' | 'Hold' | 'Leave' | 'Refuse'
      /**
       * Why.
       */
      message?: string
      /**
       * Where it stands in the repository.
       */
      source?: string
      /**
       * Which fields would change.
       */
      fields?: {
        /**
         * JSON pointer.
         */
        path: string
        /**
         * The value now, as JSON; nothing where there is none.
         */
        from?: string
        /**
         * The value then, as JSON; nothing where there is none.
         */
        to?: string
      }[]
      /**
       * How many fields would change and are not listed.
       */
      omittedFields?: number
    }[]
  }
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
