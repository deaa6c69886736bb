import type { CoreCondition, Deployment } from '../../../api/index.ts'
import type { ActualState } from './evidence.ts'

const PROGRESSING = ['NewReplicaSetCreated', 'FoundNewReplicaSet', 'ReplicaSetUpdated']
export const DEADLINE = 'ProgressDeadlineExceeded'

/** The state that the status of a Deployment tells, by the rules of GitLab's workspaces in their order. */
export function stateOfDeployment(deployment: Deployment | undefined): ActualState {
  const progress = reasonOf(deployment, 'Progressing')
  const replicas = deployment?.spec?.replicas
  if (progress === undefined || replicas === undefined) return 'Unknown'
  if (progress === DEADLINE) return 'Failed'
  if (PROGRESSING.includes(progress)) return replicas === 0 ? 'Stopping' : replicas === 1 ? 'Starting' : 'Unknown'
  const available = reasonOf(deployment, 'Available')
  if (available === undefined || progress !== 'NewReplicaSetAvailable') return 'Unknown'
  return stateOfReplicas(
    available,
    replicas,
    deployment?.status?.availableReplicas ?? 0,
    deployment?.status?.unavailableReplicas ?? 0,
  )
}

function stateOfReplicas(reason: string, wanted: number, available: number, unavailable: number): ActualState {
  if (reason === 'MinimumReplicasAvailable') {
    if (wanted === 0 && available === 0) return 'Stopped'
    if (wanted === available && unavailable === 0) return 'Running'
    if (wanted === 0 && available === 1) return 'Stopping'
  }
  const known = reason === 'MinimumReplicasAvailable' || reason === 'MinimumReplicasUnavailable'
  return known && wanted === 1 && available === 0 ? 'Starting' : 'Unknown'
}

/**
 * The status speaks of an older spec, or of none: the Deployment's own controller has not looked yet.
 * The rules would take it for what was before, such as Running for what is about to be replaced.
 */
export const isUnseen = ({ metadata, status }: Deployment): boolean =>
  status?.observedGeneration === undefined || status.observedGeneration < (metadata.generation ?? 0)

export const wantedOf = (deployment: Deployment | undefined): number => deployment?.spec?.replicas ?? 0

export const statementOf = (deployment: Deployment | undefined, type: string): CoreCondition | undefined =>
  deployment?.status?.conditions?.find((condition) => condition.type === type)

export const reasonOf = (deployment: Deployment | undefined, type: string): string | undefined =>
  statementOf(deployment, type)?.reason || undefined
