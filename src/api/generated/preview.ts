// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * For which branches, where, what, and for how long.
 */
export interface PreviewSpec {
  /**
   * Which branches have an environment.
   */
  branches: {
    /**
     * The GitProject, by its name, or as `namespace/name` where another namespace grants access.
     */
    project: string
    /**
     * Which, with `*` for any letters, such as `feature/*`. Default: *.
     */
    pattern?: string
    /**
     * Which not, written in the same way.
     */
    except?: string[]
  }
  /**
   * The class of the claims. Its provisioner makes a namespace for each branch, and its reclaim policy says what becomes of that.
   */
  deploymentTargetClassName: string
  /**
   * What each claim asks for.
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
   * What is deployed. `${branch}` and `${environment}` in values stand for the branch and the name of its environment, `$${name}` for itself; another name without a default as in `${name:=default}` is refused.
   */
  template: {
    /**
     * Labels and annotations of the GitOpsDeployments.
     */
    metadata?: {
      /**
       * Labels.
       */
      labels?: Record<string, string>
      /**
       * Annotations.
       */
      annotations?: Record<string, string>
    }
    /**
     * As in a GitOpsDeployment. What belongs to the branch is put in: `source.repoURL`, `source.project`, `source.targetRevision` and `destination`; `deletionPolicy` is left out, for the namespace takes all with it. Without `type`, automated.
     */
    spec: Record<string, unknown>
  }
  /**
   * So many at most at once; branches beyond that wait. Default: 20.
   */
  maxEnvironments?: number
  /**
   * An environment goes so long after the last push to its branch, such as `72h`, and comes back with the next one. Without it, it goes with the branch.
   */
  timeToLive?: string
  /**
   * When an environment stays although its branch is gone from the repository. One to three of a larger number always go; what has expired, was ended, is not asked for any more or has no room is not counted.
   */
  removal?: {
    /**
     * More than this share of them within ten minutes stays until this is changed, in percent. Counts from four that go on. Default: 50.
     */
    maxPercent?: number
    /**
     * Whether all of two or more may go at once. Default: false.
     */
    allowEmpty?: boolean
  }
  /**
   * Whether nothing is made, changed or removed for the time being. Default: false.
   */
  suspend?: boolean
}

/**
 * The environments there are.
 */
export interface PreviewStatus {
  /**
   * How many there are.
   */
  counts?: {
    /**
     * Environments that there are to be.
     */
    environments: number
    /**
     * Those of them that are in effect and healthy.
     */
    ready: number
    /**
     * Branches that wait for room.
     */
    waiting: number
    /**
     * Branches whose environment has gone before them.
     */
    expired: number
  }
  /**
   * Each environment, by the name of its branch.
   */
  environments?: {
    /**
     * Name of its Environment, claim and GitOpsDeployment.
     */
    name: string
    /**
     * Branch.
     */
    branch: string
    /**
     * The last commit of the branch.
     */
    commit: string
    /**
     * When that commit was seen first.
     */
    since: string
    /**
     * When it goes, if nothing is pushed. Nothing where it only goes with its branch.
     */
    expires?: string
    /**
     * Whether it is in effect and healthy.
     */
    ready: boolean
    /**
     * One word for how it is.
     */
    reason: string
    /**
     * How it is.
     */
    message?: string
  }[]
  /**
   * Branches whose environment has gone before them, and at which commit. The next push brings it back.
   */
  expired?: {
    /**
     * Branch.
     */
    branch: string
    /**
     * Its commit then.
     */
    commit: string
  }[]
  /**
   * The first of the branches that wait for room, by name, and their commits.
   */
  waiting?: {
    /**
     * Branch.
     */
    branch: string
    /**
     * Its last commit.
     */
    commit: string
  }[]
  /**
   * Those that go one after the other within ten minutes because their branches are gone, and together must not be too many.
   */
  removals?: {
    /**
     * When the first of them went, or was to go.
     */
    since: string
    /**
     * How many environments there were then, or came since.
     */
    total: number
    /**
     * How many have gone since.
     */
    gone: number
    /**
     * How many wait, or waited at most, for somebody.
     */
    held?: number
  }
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready, True when each environment is made, in effect and healthy, RemovalHeld where removals wait, or waited, for somebody, and RepositoryInView.
   */
  conditions?: Condition[]
}
