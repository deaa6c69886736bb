import type { ContainerStatus, CoreCondition, Pod } from '../../../api/index.ts'
import { timeOf } from './evidence.ts'

/** The pods of a workspace by what they are now. */
export interface Sorted {
  /** The one that is, or will be, the workspace. */
  current: Pod | undefined
  /** Asked to end, and still there. */
  ending: Pod[]
  /** Ended by themselves or by their node, and kept by the cluster for people to look at; the latest first. */
  ended: Pod[]
}

export function sorted(pods: readonly Pod[]): Sorted {
  const latest = [...pods].sort((a, b) => bornAt(b) - bornAt(a))
  const staying = latest.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return {
    current: staying.find((pod) => !isOver(pod)),
    ending: latest.filter(({ metadata }) => metadata.deletionTimestamp !== undefined),
    ended: staying.filter(isOver),
  }
}

const isOver = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded'

/** A pod that still holds something. One that was evicted stays in the list, but nothing of it runs. */
export const isThere = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined || !isOver(pod)

export const bornAt = ({ metadata }: Pod): number => timeOf(metadata.creationTimestamp) ?? 0

export const podCondition = ({ status }: Pod, type: string): CoreCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type)

export const holdsOf = (pod: Pod, type: string): boolean => podCondition(pod, type)?.status === 'True'

export const statusesOf = ({ status }: Pod): { init: ContainerStatus[]; main: ContainerStatus[] } => ({
  init: status?.initContainerStatuses ?? [],
  main: status?.containerStatuses ?? [],
})

export const isScheduled = (pod: Pod): boolean => pod.spec?.nodeName !== undefined || holdsOf(pod, 'PodScheduled')

const PREPARING = ['ContainerCreating', 'PodInitializing', '']

/** Its volumes are mounted and its network is there. Without the kubelet's own word: something of it was tried. */
export function isPrepared(pod: Pod): boolean {
  const { init, main } = statusesOf(pod)
  if (holdsOf(pod, 'PodReadyToStartContainers')) return true
  return [...init, ...main].some(({ state, lastState }) => {
    const waits = state?.waiting
    return (
      Boolean(state?.running ?? state?.terminated ?? lastState?.terminated) || (waits && !PREPARING.includes(waits.reason ?? ''))
    )
  })
}

/** Every init container is done, or runs on beside the others. */
export function isInitialized(pod: Pod): boolean {
  const { init } = statusesOf(pod)
  if (!isPrepared(pod)) return false
  return (pod.spec?.initContainers ?? []).length === 0 || holdsOf(pod, 'Initialized') || (init.length > 0 && init.every(isDone))
}

export const isDone = ({ state }: ContainerStatus): boolean => state?.terminated?.exitCode === 0

export function isStarted(pod: Pod): boolean {
  const { main } = statusesOf(pod)
  return main.length > 0 && main.every(({ state }) => state?.running !== undefined)
}
