import type { GitOpsDeployment, Statement } from '../../api/index.ts'
import { type StatusDraft, sentenceOf } from '../../engines/controller/index.ts'
import { type Entry, entriesOf, keyOfId, type Observed, type Snapshot, sayId } from '../../engines/gitops/index.ts'
import type { Failure } from '../../std/index.ts'
import { redacted } from './repository.ts'

/** The schema takes no more. */
const MOST_RESOURCES = 5000

export interface Outcome {
  revision: string
  entries: readonly Entry[]
  observed: Observed
  inventory: { name: string; namespace: string; count: number }
  destination: string
  /** Why no newer commit can be had, if so. */
  source?: Failure | undefined
  at: string
}

/** What the status says after a sync. */
export function statusAfter(deployment: GitOpsDeployment, outcome: Outcome): StatusDraft {
  const { entries, observed, revision, inventory } = outcome
  const failed = entriesOf(entries, 'failed')
  const leaving = entriesOf(entries, 'terminating')
  const isSynced = failed.length === 0 && leaving.length === 0
  const wrote = entriesOf(entries, 'created', 'configured', 'pruned').length > 0
  return {
    ...kept(deployment),
    sync: { status: isSynced ? 'Synced' : 'OutOfSync', revision },
    health: observed.health,
    resources: resourcesOf(observed, entries),
    reconciledState: reconciledState(deployment, outcome.destination),
    inventory,
    ...(wrote && { lastSyncTime: outcome.at }),
    conditions: conditionsAfter(outcome, failed, leaving),
  }
}

function conditionsAfter({ observed, revision, source }: Outcome, failed: Entry[], leaving: Entry[]): Statement[] {
  const trouble = failed.length > 0 ? `${failed.length} of the objects: ${sentence(failed)}` : undefined
  const sync = trouble === undefined ? fine('SyncError') : bad('SyncError', 'SyncFailed', trouble)
  if (source)
    return [
      unready(source.reason ?? 'SourceFailed', sentenceOf(source)),
      sync,
      bad('ErrorOccurred', source.reason ?? 'SourceFailed', sentenceOf(source)),
    ]
  const error = trouble === undefined ? fine('ErrorOccurred') : bad('ErrorOccurred', 'SyncFailed', trouble)
  if (trouble !== undefined) return [unready('SyncFailed', trouble), sync, error]
  if (leaving.length > 0) return [unready('Pruning', sentence(leaving)), sync, error]
  return [readiness(observed, revision), sync, error]
}

/** Nothing was applied: what is in effect stays as it was, and the failure is told. */
export function statusFor(deployment: GitOpsDeployment, failure: Failure): StatusDraft {
  const { sync, health } = deployment.status ?? {}
  const reason = failure.reason ?? 'SyncFailed'
  const message = sentenceOf(failure)
  return {
    ...kept(deployment),
    sync: { ...sync, status: sync?.revision === undefined ? 'Unknown' : 'OutOfSync' },
    health: health ?? { status: 'Unknown' },
    conditions: [unready(reason, message), bad('SyncError', reason, message), bad('ErrorOccurred', reason, message)],
  }
}

/** Nothing is wrong, and nothing is done. */
export function statusWhile(deployment: GitOpsDeployment, reason: string, message: string, newer?: string): StatusDraft {
  const { sync, health } = deployment.status ?? {}
  const status = newer !== undefined && newer !== sync?.revision ? 'OutOfSync' : (sync?.status ?? 'Unknown')
  return {
    ...kept(deployment),
    sync: { ...sync, status },
    health: health ?? { status: 'Unknown' },
    conditions: [unready(reason, message), fine('SyncError'), fine('ErrorOccurred')],
  }
}

export function statusBetweenRuns(deployment: GitOpsDeployment, { commitId }: Snapshot): StatusDraft {
  const commit = commitId.slice(0, 12)
  if (deployment.status?.sync?.revision !== commitId)
    return statusWhile(
      deployment,
      'WaitingForSyncRun',
      `commit ${commit} is there; create a GitOpsDeploymentSyncRun to apply it`,
      commitId,
    )
  return kept(deployment)
}

/** The same status, with the objects as they do now. */
export function withHealth(
  status: StatusDraft,
  { sync }: NonNullable<GitOpsDeployment['status']>,
  observed: Observed,
): StatusDraft {
  const isInEffect = status.conditions === undefined && sync?.status === 'Synced'
  return {
    ...status,
    health: observed.health,
    resources: resourcesOf(observed, []),
    ...(isInEffect && { conditions: [readiness(observed, sync.revision ?? '')] }),
  }
}

function readiness({ health: { status, message = '' } }: Observed, revision: string): Statement {
  if (status !== 'Healthy') return unready(status, message)
  return { type: 'Ready', status: 'True', reason: 'Synced', message: `Commit ${revision.slice(0, 12)} is in effect and healthy.` }
}

/** A status is always written whole; this is what a reconcile does not decide anew each time. */
function kept({ status }: GitOpsDeployment): StatusDraft {
  const { conditions: _, observedGeneration: __, ...rest } = status ?? {}
  return rest
}

function resourcesOf({ objects }: Observed, entries: readonly Entry[]) {
  const byKey = new Map(entries.map((entry) => [keyOfId(entry.id), entry]))
  return objects.slice(0, MOST_RESOURCES).map(({ id, version, health }) => {
    const change = byKey.get(keyOfId(id))?.change
    const status = change === 'failed' || change === 'terminating' || health.status === 'Missing' ? 'OutOfSync' : 'Synced'
    return { ...id, version, status, health }
  })
}

function reconciledState({ metadata, spec: { source, destination } }: GitOpsDeployment, namespace: string) {
  return {
    source: { path: source.path, repoURL: redacted(source.repoURL), branch: source.targetRevision ?? '' },
    destination: { name: destination?.environment ?? '', namespace: namespace || (metadata.namespace ?? '') },
  }
}

const sentence = (entries: Entry[]): string => {
  const said = entries.slice(0, 3).map(({ id, why, source }) => `${sayId(id)}${source ? ` (${source})` : ''} ${why ?? ''}`.trim())
  return entries.length > 3 ? `${said.join('; ')}; and ${entries.length - 3} more` : said.join('; ')
}

const fine = (type: string): Statement => ({ type, status: 'False', reason: 'AsExpected', message: '' })
const bad = (type: string, reason: string, message: string): Statement => ({ type, status: 'True', reason, message })
const unready = (reason: string, message: string): Statement => ({ type: 'Ready', status: 'False', reason, message })
