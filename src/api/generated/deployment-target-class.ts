// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * What targets of this class are. Cannot be changed; make another class instead.
 */
export interface DeploymentTargetClassSpec {
  /**
   * Name of the provisioner that makes targets of this class, such as `appstudio.redhat.com/devsandbox`. No provisioner of that name needs to run for targets that are made by hand.
   */
  provisioner: string
  /**
   * Settings for the provisioner. Those that come with Berth know tierName, credentials and, for namespaces in the cluster of an agent, agent; other keys need a prefix, such as example.com/colour, and are passed on as they are.
   */
  parameters?: Record<string, unknown>
  /**
   * What happens to a provisioned target when its claim is deleted. Delete - the target and what it stands for are freed. Retain - both stay, the target is Released.
   */
  reclaimPolicy: 'Delete' | 'Retain'
  /**
   * When a claim gets its target. Immediate - as soon as it is made. WaitForFirstConsumer - when the first Environment or Workspace names it, or at once where it was made for a Workspace; claims that name their target do not wait. Default: Immediate.
   */
  bindingMode?: 'Immediate' | 'WaitForFirstConsumer'
  /**
   * Whether a bound claim may ask for more resources, so that the provisioner grows the target in place. Default: false.
   */
  allowTargetResourceExpansion?: boolean
}

/**
 * What is known about the class.
 */
export interface DeploymentTargetClassStatus {
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready.
   */
  conditions?: Condition[]
}
