import type { Deployment, WorkspaceStatus } from '../../api/index.ts'
import type { Trouble } from './trouble.ts'

export type ActualState = NonNullable<WorkspaceStatus['actualState']>

export interface Evidence {
  /** How far the removal of everything has come, once it was asked for. */
  termination?: 'Terminating' | 'Terminated' | undefined
  /** The objects could not be applied. */
  applyFailed?: boolean
  deployment?: Deployment | undefined
  trouble?: Trouble | undefined
}

/** The state of a workspace. First match wins: its end, its objects, its Deployment, and what keeps that from starting. */
export function actualStateOf({ termination, applyFailed, deployment, trouble }: Evidence): ActualState {
  if (termination) return termination
  if (applyFailed) return 'Error'
  // The Deployment's own controller has not looked yet: nothing is unknown, only new.
  if (deployment?.spec && deployment.status?.observedGeneration === undefined)
    return deployment.spec.replicas ? 'Starting' : 'Stopping'
  const state = stateOfDeployment(deployment)
  // A crash loop after a good start looks like Starting for ever to the rules below; the pod knows better.
  return trouble?.fatal && deployment?.spec?.replicas && state !== 'Running' ? 'Failed' : state
}

const PROGRESSING = ['NewReplicaSetCreated', 'FoundNewReplicaSet', 'ReplicaSetUpdated']

/** What the status of a Deployment says, by the rules of the reference implementation in their order. */
export function stateOfDeployment(deployment: Deployment | undefined): ActualState {
  const progress = reasonOf(deployment, 'Progressing')
  const replicas = deployment?.spec?.replicas
  if (progress === undefined || replicas === undefined) return 'Unknown'
  if (progress === 'ProgressDeadlineExceeded') return 'Failed'
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

const reasonOf = (deployment: Deployment | undefined, type: string): string | undefined =>
  deployment?.status?.conditions?.find((condition) => condition.type === type)?.reason || undefined
