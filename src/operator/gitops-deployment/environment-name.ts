import type { GitOpsDeployment, GitOpsDeploymentSpec } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'

/** Berth's managed environment of an Environment is named so. */
const PREFIX = 'managed-environment-'

/**
 * `destination.environment` names a GitOpsDeploymentManagedEnvironment, as upstream has it, or the Environment that one
 * was made from (Berth names it `managed-environment-<environment>`). The first that exists is meant.
 */
export function environmentNames({ destination }: GitOpsDeploymentSpec): string[] {
  const name = destination?.environment
  return name ? [name, PREFIX + name] : []
}

/** Neither is there. People make Environments, and the rest follows; so the Environment is what the message speaks of. */
export function noEnvironment({ metadata, spec }: GitOpsDeployment): Failure {
  const written = spec.destination?.environment ?? ''
  const environment = written.startsWith(PREFIX) ? written.slice(PREFIX.length) : written
  const where = `namespace ${metadata.namespace}`
  const message = `spec.destination.environment "${written}": Environment ${environment} in ${where} does not exist or leads to no cluster yet, and there is no GitOpsDeploymentManagedEnvironment ${written}`
  const remedy = `Create Environment ${environment}, or mend what its condition Ready says (kubectl -n ${metadata.namespace} get environments.appstudio.redhat.com ${environment}); one that names neither a claim nor credentials leads nowhere else than its own namespace, which is meant when spec.destination.environment is left out`
  return new Failure('invalid', message, { reason: 'EnvironmentNotReady', remedy })
}
