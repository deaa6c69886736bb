import type { GitOpsDeploymentSpec } from '../../api/index.ts'

/**
 * `destination.environment` names a GitOpsDeploymentManagedEnvironment, as upstream has it, or the Environment that one
 * was made from (Berth names it `managed-environment-<environment>`). The first that exists is meant.
 */
export function environmentNames({ destination }: GitOpsDeploymentSpec): string[] {
  const name = destination?.environment
  return name ? [name, `managed-environment-${name}`] : []
}
