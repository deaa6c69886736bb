import type { CoreEvent, Deployment, PersistentVolumeClaim, Pod, WorkspaceStatus } from '../../../api/index.ts'

/** The eleven names of GitLab's workspaces. `RestartRequested` is among them and is never reported: it is a wish, not a state. */
export type ActualState = NonNullable<WorkspaceStatus['actualState']>

/** Everything that a workspace's state is judged by: neither a clock nor a server is asked. */
export interface Evidence {
  /** Milliseconds since the epoch. */
  now: number
  /** How long a container that was started again has to stay up, milliseconds; ten seconds without it. */
  steadyAfter?: number | undefined
  /** How far the removal of everything has come, once it was asked for. */
  termination?: 'Terminating' | 'Terminated' | undefined
  deployment?: Deployment | undefined
  pods?: readonly Pod[]
  /** The workspace's volumes; only where somebody took a closer look. */
  claims?: readonly PersistentVolumeClaim[]
  /** Warnings about its pods and volumes; only where somebody took a closer look. */
  events?: readonly CoreEvent[]
  /** The status as it was written last says since when it is in this step, and since when in which trouble. */
  before?: Pick<WorkspaceStatus, 'step' | 'waiting' | 'failure'> | undefined
}

/** The steps of a pod's life, in their order, as people are told them. */
export type StepName =
  | 'Admission'
  | 'Scheduling'
  | 'Volume'
  | 'Sandbox'
  | 'Image'
  | 'InitContainer'
  | 'ContainerStart'
  | 'PostStart'
  | 'Probes'
  | 'Run'
  | 'Stop'
  | 'PostStop'

/** Milliseconds; undefined where there is no time, or none that can be read. */
export function timeOf(text: string | Date | undefined): number | undefined {
  const time = text === undefined ? Number.NaN : new Date(text).getTime()
  return Number.isNaN(time) ? undefined : time
}
