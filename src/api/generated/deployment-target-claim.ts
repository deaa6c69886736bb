// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * What is asked for. Once the claim is bound only `resources` may change, and only upward.
 */
export interface DeploymentTargetClaimSpec {
  /**
   * Class to take the target from. Its provisioner makes a target when none matches. Empty asks for a target that belongs to no class; nothing is provisioned then.
   */
  deploymentTargetClassName: string
  /**
   * The DeploymentTarget in the same namespace that is wanted. Left empty, Berth chooses one and writes its name here.
   */
  targetName?: string
  /**
   * What the target must have at least.
   */
  resources?: {
    /**
     * The least - by name (`cpu`, `memory`, …), as Kubernetes quantities. What matching compares.
     */
    requests?: Record<string, number | string>
    /**
     * The most - by name, as Kubernetes quantities.
     */
    limits?: Record<string, number | string>
  }
  /**
   * CPU architecture, such as `x86-64` or `arm64`; `x86_64`, `amd64` and `x86-64` mean the same. Without it, any.
   */
  arch?: string
}

/**
 * What became of the request.
 */
export interface DeploymentTargetClaimStatus {
  /**
   * Pending - waits for a target; the conditions say for what. Bound - has its target. Lost - the target it had does not exist any more.
   */
  phase?: 'Pending' | 'Bound' | 'Lost'
  /**
   * The target that the claim has.
   */
  target?: {
    /**
     * Name of the DeploymentTarget.
     */
    name: string
    /**
     * UID of the DeploymentTarget; a target of the same name that was made later has another one.
     */
    uid?: string
  }
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready (bound to a target), ResourcesSatisfied (the target offers what is asked for) and ErrorOccurred.
   */
  conditions?: Condition[]
}
