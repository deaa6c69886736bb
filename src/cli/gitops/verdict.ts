import { conditionOf, type GitOpsDeployment } from '../../api/index.ts'

/** The state of a deployment, for somebody who waits until it is Ready. */
export interface ReadyVerdict {
  word: 'ready' | 'failed' | 'under-way'
  message: string
  /** Deletions wait for a confirmation. */
  asks?: boolean
}

/** Reasons that nobody but a person changes: to wait on would be to wait in vain. */
const STANDSTILL = new Set([
  'Degraded',
  'Suspended',
  'Drifted',
  'Fight',
  'ConflictingSync',
  'KeptByOther',
  'WaitingForSyncRun',
  'OutsideSyncWindow',
])

/** Pure. What the status says, if it speaks of the spec as it is now; where a run has applied a commit, of that one. */
export function verdictOf({ metadata, status }: GitOpsDeployment, applied?: string): ReadyVerdict {
  const ready = conditionOf(status?.conditions, 'Ready')
  if (!ready || !status || status.observedGeneration !== metadata.generation)
    return { word: 'under-way', message: 'the operator has yet to look at it' }
  if (ready.status === 'True') return { word: 'ready', message: ready.message }
  // A newer commit waits for the next run; whoever asked for this one wants to know how this one does.
  const isApplied = applied !== undefined && status.sync?.revision === applied
  if (isApplied && ready.reason === 'WaitingForSyncRun') return byHealth(applied, status.health)
  const message = `${ready.reason}: ${ready.message}`
  const trouble = ['SyncError', 'ErrorOccurred'].some((type) => conditionOf(status.conditions, type)?.status === 'True')
  if (status.pendingPrune) return { word: 'failed', message, asks: true }
  if (trouble || STANDSTILL.has(ready.reason)) return { word: 'failed', message }
  return { word: 'under-way', message }
}

type Health = NonNullable<GitOpsDeployment['status']>['health']

function byHealth(applied: string, health: Health): ReadyVerdict {
  const { status = 'Unknown', message = '' } = health ?? {}
  if (status === 'Healthy') return { word: 'ready', message: `Commit ${applied.slice(0, 12)} is in effect and healthy.` }
  return { word: status === 'Degraded' ? 'failed' : 'under-way', message: `${status}: ${message}` }
}
