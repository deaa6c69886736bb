import { conditionOf } from './conditions.ts'
import type { GitOpsDeployment } from './kinds.ts'

/** Whether what its spec says now is in effect and healthy; `reason` and `message`: why not, `said`: all of it. */
export function inEffect({ metadata, status }: GitOpsDeployment): {
  isReady: boolean
  reason: string
  message: string
  said: string
} {
  const isSeen = status?.observedGeneration === metadata.generation
  const ready = isSeen ? conditionOf(status?.conditions, 'Ready') : undefined
  const { reason = 'Pending', message = 'It has not been looked at yet.' } = ready ?? {}
  return { isReady: ready?.status === 'True', reason, message, said: `${ready?.status} ${reason} ${message}` }
}
