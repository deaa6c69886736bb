import type { ContainerState, ContainerStatus, CoreEvent, Pod } from '../../../api/index.ts'
import { causeOf } from './causes.ts'
import { ownRemedy } from './own-containers.ts'
import { bornAt } from './pods.ts'
import type { Symptom } from './symptom.ts'

export type Ended = NonNullable<ContainerState['terminated']>

/** One container, and the warnings about it. */
export interface SeenContainer {
  pod: Pod
  status: ContainerStatus
  isInit: boolean
  /** Warnings about it, the latest first. */
  events: CoreEvent[]
}

export const symptomOf = ({ pod, status, isInit }: SeenContainer, symptom: Omit<Symptom, 'where'>): Symptom => ({
  ...(isInit && causeOf(symptom.reason).step !== 'Image' && { step: 'InitContainer' }),
  where: `${isInit ? 'init container' : 'container'} ${status.name} of Pod ${pod.metadata.name}`,
  container: status.name,
  notBefore: bornAt(pod),
  remedy: isInit ? ownRemedy(status.name, symptom.reason) : undefined,
  ...symptom,
})

export const startsOf = ({ status }: SeenContainer): string | undefined =>
  status.restartCount > 0 ? `started ${status.restartCount + 1} times` : undefined

export const probeOf = ({ events }: SeenContainer, which: RegExp): CoreEvent | undefined =>
  events.find(({ reason, message = '' }) => reason === 'Unhealthy' && which.test(message))

/** Words of runtimes about a command that they cannot start. */
export const COMMANDS = [
  [/executable file not found|no such file or directory/i, 'CommandNotFound'],
  [/permission denied/i, 'CommandNotExecutable'],
  [/exec format error/i, 'ImageWrongPlatform'],
  [/no command specified/i, 'CommandNotFound'],
] as const
