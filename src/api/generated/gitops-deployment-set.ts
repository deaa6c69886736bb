// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * For which, what, and in which order.
 */
export interface GitOpsDeploymentSetSpec {
  /**
   * What there is one of for. Each adds its elements; all of them together give at most 1000.
   */
  generators: {
    /**
     * Elements that are written out.
     */
    list?: {
      /**
       * Values by the name of the variable, for each element.
       */
      elements: Record<string, string>[]
    }
    /**
     * One element for each Environment in the namespace of this object. It gives `environment`, the name.
     */
    environments?: {
      /**
       * Label selector in the API's own syntax, such as `tier=prod,region in (eu,us)`. Without it all of them.
       */
      labelSelector?: string
      /**
       * Further variables, by their name, and the label of the Environment that each is taken from, such as `topology.kubernetes.io/region`. An Environment without that label is refused.
       */
      labels?: Record<string, string>
      /**
       * Further variables, by their name, and the annotation of the Environment that each is taken from. An Environment without that annotation is refused.
       */
      annotations?: Record<string, string>
    }
    /**
     * One element for each branch of a repository. It gives `branch`, the name, and `slug`, of which names of objects can be made.
     */
    branches?: {
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
     * One element for each directory of a repository with a file in it or below it. It gives `path`, `directory`, the last part of it, and `slug`, of which names of objects can be made.
     */
    directories?: {
      /**
       * The GitProject, by its name, or as `namespace/name` where another namespace grants access.
       */
      project: string
      /**
       * Branch, tag or commit. Without it the default branch.
       */
      revision?: string
      /**
       * Which, with `*` for any letters but `/`, such as `apps/*`.
       */
      pattern: string
      /**
       * Which not, written in the same way.
       */
      except?: string[]
    }
    /**
     * Each element of the first with each of the second, and so on. No two of them may give the same variable.
     */
    product?: {
      /**
       * Elements that are written out.
       */
      list?: {
        /**
         * Values by the name of the variable, for each element.
         */
        elements: Record<string, string>[]
      }
      /**
       * One element for each Environment in the namespace of this object. It gives `environment`, the name.
       */
      environments?: {
        /**
         * Label selector in the API's own syntax, such as `tier=prod,region in (eu,us)`. Without it all of them.
         */
        labelSelector?: string
        /**
         * Further variables, by their name, and the label of the Environment that each is taken from, such as `topology.kubernetes.io/region`. An Environment without that label is refused.
         */
        labels?: Record<string, string>
        /**
         * Further variables, by their name, and the annotation of the Environment that each is taken from. An Environment without that annotation is refused.
         */
        annotations?: Record<string, string>
      }
      /**
       * One element for each branch of a repository. It gives `branch`, the name, and `slug`, of which names of objects can be made.
       */
      branches?: {
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
       * One element for each directory of a repository with a file in it or below it. It gives `path`, `directory`, the last part of it, and `slug`, of which names of objects can be made.
       */
      directories?: {
        /**
         * The GitProject, by its name, or as `namespace/name` where another namespace grants access.
         */
        project: string
        /**
         * Branch, tag or commit. Without it the default branch.
         */
        revision?: string
        /**
         * Which, with `*` for any letters but `/`, such as `apps/*`.
         */
        pattern: string
        /**
         * Which not, written in the same way.
         */
        except?: string[]
      }
    }[]
  }[]
  /**
   * The GitOpsDeployments. `${name}` and `${name:=default}` in values stand for the variables of the element, `$${name}` for itself; a name without value and default is refused.
   */
  template: {
    /**
     * Name, labels and annotations.
     */
    metadata: {
      /**
       * Name; another one for each element, such as `shop-${environment}`.
       */
      name: string
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
     * As in a GitOpsDeployment.
     */
    spec: Record<string, unknown>
  }
  /**
   * In which order what is new, and what is changed in this object, comes into effect. Without it, all at once.
   */
  rollout?: {
    /**
     * One after the other, each when all of those before are in effect and healthy. Those that no step names come last.
     */
    steps: {
      /**
       * Which, by the labels in the template, in the API's own syntax, such as `tier=dev`. Without it all that no step before names.
       */
      labelSelector?: string
      /**
       * How many of them may be on their way at once, as a number or as a share of the step such as `25%`. Without it, all.
       */
      maxAtOnce?: number | string
    }[]
  }
  /**
   * What becomes of a GitOpsDeployment for which there is no element any more.
   */
  removal?: {
    /**
     * Delete - it is deleted, also together with this object; its own deletionPolicy says what becomes of its objects. Orphan - it stays, and belongs to nobody. Default: Delete.
     */
    policy?: 'Delete' | 'Orphan'
    /**
     * More than this share of them at once stays until this is changed, in percent. Counts from ten on. Default: 50.
     */
    maxPercent?: number
    /**
     * Whether all of them may go because there is no element any more. Default: false.
     */
    allowEmpty?: boolean
  }
  /**
   * Whether nothing is made, changed or removed for the time being. Default: false.
   */
  suspend?: boolean
}

/**
 * How far it is.
 */
export interface GitOpsDeploymentSetStatus {
  /**
   * The GitOpsDeployments, counted.
   */
  deployments?: {
    /**
     * How many there are to be.
     */
    total: number
    /**
     * How many of them are as the template has them.
     */
    updated: number
    /**
     * How many of these are in effect and healthy.
     */
    ready: number
    /**
     * How many are there for which there is no element any more.
     */
    leaving?: number
  }
  /**
   * Those that go one after the other within ten minutes, and together must not be too many.
   */
  removals?: {
    /**
     * When the first of them went, or was to go.
     */
    since: string
    /**
     * How many GitOpsDeployments there were then.
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
   * The step of the rollout that is under way, from 1 on. Nothing when there is none.
   */
  step?: number
  /**
   * GitOpsDeployments that are not as they should be, the first of them.
   */
  unready?: {
    /**
     * Name.
     */
    name: string
    /**
     * One word for why.
     */
    reason: string
    /**
     * Why.
     */
    message?: string
  }[]
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready, True when all is made, in effect and healthy, RemovalHeld where removals wait, or waited, for somebody, and RepositoryInView where something is asked of a repository.
   */
  conditions?: Condition[]
}
