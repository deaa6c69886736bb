import {
  conditionOf,
  type GitOpsDeployment,
  isTrue,
  type Statement,
  sourceChart,
  sourcePath,
  sourceUrl,
} from '../../../api/index.ts'
import { keyOfId, sayId } from '../../../engines/apply/index.ts'
import { type StatusDraft, sentenceOf } from '../../../engines/controller/index.ts'
import { type Entry, entriesOf, type Observed, type SyncResult, sayEntries, sayFight } from '../../../engines/gitops/index.ts'
import type { Snapshot } from '../../../engines/render/index.ts'
import { type Failure, isFailure, redactUrls, timestamp } from '../../../std/index.ts'
import type { SyncWait } from '../schedule/sync-wait.ts'
import { contestedIn, type PendingPrune, pendingPruneOf } from './attention.ts'
import { isHookFailed, isNotRun, messageOf } from './hooks.ts'
import {
  admittedAfter,
  type CommitOutcome,
  type History,
  historyAfter,
  type LastTrouble,
  outcomeAfter,
  outcomeOf,
  resultIn,
  subjectOf,
  type ToldCommit,
  troubleAfter,
} from './outcome.ts'
import { answerTo } from './requests.ts'

/** A status is written whole with each change of health: more would make it megabytes. What is not well comes first. */
const MOST_RESOURCES = 500
/** The schema takes so many. */
const MOST_FIELDS = 16
/** Changes that keep a commit from being in effect as a whole. */
const UNDONE = ['failed', 'terminating', 'waiting', 'withheld'] as const

interface SyncOutcome {
  revision: string
  commit: ToldCommit
  entries: readonly Entry[]
  observed: Observed
  inventory: { name: string; namespace: string; count: number }
  destination: string
  /** The GitProject, as `namespace/name`. */
  project: string
  /** Why no newer commit can be had, if so. */
  source?: Failure | undefined
  /** When something was written that is not told yet. */
  at: string | undefined
  /** Somebody asked for it, whatever the sync windows say. */
  isAsked: boolean
  /** Objects that were changed in the cluster, and are set back later. */
  repairsLater: readonly Entry[]
  fights: SyncResult['fights']
  contested: SyncResult['contested']
  now: string
}

/** The status after a sync. */
export function statusAfter(deployment: GitOpsDeployment, outcome: SyncOutcome): StatusDraft {
  const { entries, observed, revision, inventory, commit = { commitId: revision } } = outcome
  const failed = entriesOf(entries, 'failed')
  const undone = entriesOf(entries, ...UNDONE)
  const pending = pendingPruneOf(deployment, entries, revision)
  const conditions = conditionsAfter(outcome, failed, pending)
  const isManual = deployment.spec.type === 'manual'
  const admission = { revision, generation: deployment.metadata.generation ?? 0, at: outcome.now }
  const isSynced = undone.length + outcome.repairsLater.length === 0 && driftedIn(observed).length === 0
  return {
    ...kept(deployment),
    sync: { status: isSynced ? 'Synced' : 'OutOfSync', revision },
    ...(isAdmitted(outcome, undone) && { admitted: admittedAfter(deployment.status?.admitted, admission) }),
    health: observed.health,
    resources: resourcesOf(observed, [...entries, ...outcome.repairsLater]),
    reconciledState: reconciledState(deployment, outcome),
    inventory,
    pendingPrune: pending,
    ...(isManual && isGoingOn({ conditions }) ? {} : answerTo(deployment)),
    ...(outcome.at !== undefined && { lastSyncTime: outcome.at }),
    conditions,
    ...historyIn(deployment, { commit, isInEffect: isSynced && isTrue(conditions, 'Ready'), now: outcome.now }),
    ...newsOf(deployment, outcome.commit, { conditions, observed, now: outcome.now }),
  }
}

/** What waits for others that are on their way is applied by the same request: of a manual deployment nobody else would. */
export const isGoingOn = ({ conditions }: StatusDraft): boolean => conditionOf(conditions, 'Ready')?.reason === 'Waiting'

/** From then on its objects are repaired at any time: when sync windows are closed, and when dependencies are ill. */
const isAdmitted = ({ isAsked }: SyncOutcome, undone: readonly Entry[]): boolean => isAsked || undone.length === 0

/** Only what was in effect as a whole is worth going back to. */
function historyIn(
  { status, spec }: GitOpsDeployment,
  { commit, isInEffect, now }: { commit: ToldCommit; isInEffect: boolean; now: string },
): { history?: History } {
  if (!isInEffect) return {}
  const entry = { revision: commit.commitId, path: sourcePath(spec.source), at: now, ...subjectOf(commit) }
  return { history: historyAfter(status?.history, entry) }
}

/** A commit that is nobody's fault has no outcome yet. */
function outcomeIn(
  { status }: GitOpsDeployment,
  commit: ToldCommit | undefined,
  conditions: readonly Statement[],
): { lastOutcome?: CommitOutcome } {
  const result = resultIn(conditions)
  return result && commit ? { lastOutcome: outcomeAfter(status?.lastOutcome, outcomeOf(commit, result)) } : {}
}

/** What notifications tell: what has come of the commit, and how its objects do since. */
function newsOf(
  deployment: GitOpsDeployment,
  commit: ToldCommit,
  { conditions, observed, now }: { conditions: readonly Statement[] | undefined; observed: Observed; now: string },
): { lastOutcome?: CommitOutcome; lastTrouble?: LastTrouble } {
  const told = conditions ? outcomeIn(deployment, commit, conditions) : {}
  const outcome = told.lastOutcome ?? deployment.status?.lastOutcome
  const how = { revision: commit.commitId, health: observed.health.status, outcome, now }
  const lastTrouble = troubleAfter(deployment.status?.lastTrouble, how)
  return { ...told, ...(lastTrouble && { lastTrouble }) }
}

function conditionsAfter(outcome: SyncOutcome, failed: Entry[], pending: PendingPrune | undefined): Statement[] {
  const { source, fights } = outcome
  const trouble = failed.length > 0 ? `${whatFailed(failed)}: ${sayEntries(failed)}` : undefined
  const fight = fights.length > 0 ? bad('Fight', 'Fight', fights.slice(0, 3).map(sayFight).join('; ')) : fine('Fight')
  const beside = [fight, contestedIn(outcome.contested, failed)]
  const sync = trouble === undefined ? fine('SyncError') : bad('SyncError', 'SyncFailed', trouble)
  if (source) {
    const [reason, message] = [source.reason ?? 'SourceFailed', sentenceOf(source)]
    return [unready(reason, message), sync, bad('ErrorOccurred', reason, message), ...beside]
  }
  if (trouble !== undefined) {
    const reason =
      ['KeptByOther', 'HookFailed'].find((of) => failed.every(({ failure }) => failure?.reason === of)) ?? 'SyncFailed'
    return [unready(reason, trouble), sync, bad('ErrorOccurred', reason, trouble), ...beside]
  }
  // Somebody has to decide; until then nothing is wrong with what is in effect.
  if (pending) return [unready(pending.reason, pending.message), sync, fine('ErrorOccurred'), ...beside]
  return [readinessAfter(outcome), sync, fine('ErrorOccurred'), ...beside]
}

function whatFailed(failed: readonly Entry[]): string {
  if (failed.every(isHookFailed)) return failed.length > 1 ? `${failed.length} hooks failed` : 'a hook failed'
  return failed.length > 1 ? `${failed.length} objects cannot be applied` : 'an object cannot be applied'
}

/** Not ready for the first reason that holds; at the end, for how the objects do. */
function readinessAfter({ entries, repairsLater, observed, revision }: SyncOutcome): Statement {
  const waiting = [...entriesOf(entries, 'waiting'), ...repairsLater]
  if (waiting.length > 0) return unready(waiting.every(({ isStuck }) => isStuck) ? 'Blocked' : 'Waiting', sayEntries(waiting))
  const leaving = entriesOf(entries, 'terminating')
  if (leaving.length > 0) return unready('Pruning', sayEntries(leaving))
  const drifted = driftedIn(observed)
  if (drifted.length > 0) return unready('Drifted', sayDrift(drifted))
  return readiness(observed, revision)
}

const driftedIn = ({ objects }: Observed) => objects.filter(({ drift }) => drift.length > 0)

function sayDrift(drifted: Observed['objects']): string {
  const said = drifted.slice(0, 3).map(({ id, drift }) => `${sayId(id)} differs in ${drift.slice(0, 4).join(', ')}`)
  return `${said.join('; ')}${drifted.length > 3 ? `; and ${drifted.length - 3} more` : ''}`
}

/** Nothing was applied: what is in effect stays as it was, and the failure is told. `commit`: of which one, if of one. */
export function statusFor(deployment: GitOpsDeployment, failure: Failure, commit?: ToldCommit): StatusDraft {
  const { sync, health } = deployment.status ?? {}
  const reason = failure.reason ?? 'SyncFailed'
  const message = sentenceOf(failure)
  const conditions = [unready(reason, message), bad('SyncError', reason, message), bad('ErrorOccurred', reason, message)]
  return {
    ...kept(deployment),
    sync: { ...sync, status: sync?.revision === undefined ? 'Unknown' : 'OutOfSync' },
    health: health ?? { status: 'Unknown' },
    // What waited belonged to another commit: nobody is asked about that any more.
    ...(commit && deployment.status?.pendingPrune?.revision !== commit.commitId && { pendingPrune: undefined }),
    // Tried and found wanting is an answer too: what is mended later is not applied on the strength of it.
    ...(isFailure(failure, 'invalid') && answerTo(deployment)),
    conditions,
    ...outcomeIn(deployment, commit, conditions),
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

export const statusWhileWaiting = (
  deployment: GitOpsDeployment,
  { reason, message, until }: SyncWait,
  { commitId }: Snapshot,
): StatusDraft => ({
  ...statusWhile(deployment, reason, message, commitId),
  ...(until !== undefined && { nextWindow: timestamp(until) }),
})

/** A manual deployment does not fall ill of a newer commit: it is at another one on purpose, and that is what it is judged by. */
export function statusBetweenRuns(deployment: GitOpsDeployment, { commitId }: Snapshot): StatusDraft {
  const { sync } = deployment.status ?? {}
  if (sync?.revision === undefined) return statusWhile(deployment, 'WaitingForSyncRun', sayNewer(commitId), commitId)
  return sync.revision === commitId ? kept(deployment) : { ...kept(deployment), sync: { ...sync, status: 'OutOfSync' } }
}

const sayNewer = (commitId: string): string =>
  `commit ${commitId.slice(0, 12)} is there; create a GitOpsDeploymentSyncRun to apply it`

/** Reasons of what was applied as a whole; all but the first say how its objects do. */
const WHOLE = new Set<string>(['Synced', 'Healthy', 'Progressing', 'Degraded', 'Missing', 'Unknown'])

/** Whether the last commit was applied as a whole, so that nothing but the health of its objects decides. */
function isWhole({ status }: GitOpsDeployment): boolean {
  const { conditions, history, sync, pendingPrune } = status ?? {}
  const ready = conditionOf(conditions, 'Ready')
  if (!sync?.revision || pendingPrune || isTrue(conditions, 'SyncError')) return false
  // What stood there before is not known any more, unless it was well once.
  if (ready?.reason === 'WaitingForSyncRun' || ready?.reason === 'Suspended') return history?.[0]?.revision === sync.revision
  return ready !== undefined && WHOLE.has(ready.reason)
}

/** The same status, with the objects as they do now. */
export function withHealth(
  status: StatusDraft,
  deployment: GitOpsDeployment,
  { observed, newest, known, now }: { observed: Observed; newest: string; known: readonly ToldCommit[]; now: string },
): StatusDraft {
  const isInEffect = status.conditions === undefined && isWhole(deployment)
  const { sync } = deployment.status ?? {}
  const { revision = '' } = sync ?? {}
  const commit = known.find(({ commitId }) => commitId === revision) ?? { commitId: revision }
  const conditions = isInEffect ? [besideNewer(readiness(observed, revision), revision, newest)] : undefined
  return {
    ...status,
    health: observed.health,
    resources: resourcesOf(observed, []),
    ...(conditions && {
      sync: { ...sync, status: revision === newest ? 'Synced' : 'OutOfSync' },
      conditions,
      ...historyIn(deployment, { commit, isInEffect: isTrue(conditions, 'Ready'), now }),
    }),
    ...newsOf(deployment, commit, { conditions, observed, now }),
  }
}

const besideNewer = (ready: Statement, revision: string, newest: string): Statement =>
  ready.status !== 'True' || revision === newest
    ? ready
    : { ...ready, message: `${ready.message} A newer one waits: ${sayNewer(newest)}.` }

function readiness({ health: { status, message = '' }, objects }: Observed, revision: string): Statement {
  if (status !== 'Healthy') return unready(status, message)
  const more = objects.length > MOST_RESOURCES ? ` Of ${objects.length} objects, ${MOST_RESOURCES} are listed.` : ''
  const said = `Commit ${revision.slice(0, 12)} is in effect and healthy.${more}`
  return { type: 'Ready', status: 'True', reason: 'Synced', message: said }
}

/** A status is always written whole; this is what a reconcile does not decide anew each time. */
export function kept({ spec, status }: GitOpsDeployment): StatusDraft {
  const { conditions: _, observedGeneration: __, nextWindow: ___, promotion, ...rest } = status ?? {}
  // Who follows a branch again has left the way of promotion: what was taken there once says nothing of what is in effect.
  return spec.source.follow && promotion ? { ...rest, promotion } : rest
}

function resourcesOf({ objects }: Observed, entries: readonly Entry[]) {
  const undone = new Map(entriesOf(entries, ...UNDONE).map((entry) => [keyOfId(entry.id), entry]))
  const isWell = ({ id, health, drift }: Observed['objects'][number]) =>
    health.status === 'Healthy' && drift.length === 0 && (undone.size === 0 || !undone.has(keyOfId(id)))
  const listed = firstOf(objects, isWell).map(({ id, version, health, drift, hook }) => {
    const { why } = undone.get(keyOfId(id)) ?? {}
    const isAsWanted = why === undefined && drift.length === 0 && health.status !== 'Missing'
    return {
      ...id,
      version,
      status: isAsWanted ? 'Synced' : 'OutOfSync',
      ...(drift.length > 0 && { drift: drift.slice(0, MOST_FIELDS).map((pointer) => pointer.slice(0, 512)) }),
      ...(why !== undefined && { message: why.slice(0, 1024) }),
      ...(hook && { hook }),
      health,
    }
  })
  const never = [
    ...neverAppliedIn(objects, entriesOf(entries, 'failed')).map(neverApplied),
    ...neverAppliedIn(objects, entries.filter(isNotRun)).map(leftOut),
  ]
  return never.length > 0 ? [...never, ...listed].slice(0, MOST_RESOURCES) : listed
}

function neverAppliedIn(objects: Observed['objects'], failed: readonly Entry[]): Entry[] {
  if (failed.length === 0) return []
  const known = new Set(objects.map(({ id }) => keyOfId(id)))
  return failed.filter(({ id }) => !known.has(keyOfId(id)) && isListable(id))
}

/** Of what was never there no version is known: by that it is told from what the inventory holds. */
const neverApplied = (entry: Entry) => ({
  ...entry.id,
  version: '',
  status: 'OutOfSync',
  message: messageOf(entry),
  health: { status: 'Missing' },
})

/** Nobody waits for it. */
const leftOut = (entry: Entry) => ({
  ...entry.id,
  version: '',
  status: 'Unknown',
  message: messageOf(entry),
  health: { status: 'Unknown' },
})

/** The schema takes no longer names, and such an object may be refused for its very name. */
const isListable = ({ kind, namespace = '', name }: Entry['id']): boolean =>
  kind.length <= 63 && namespace.length <= 63 && name.length <= 253

/** As many as are listed: all in their order, or first those that are not well. */
function firstOf<T>(objects: readonly T[], isWell: (object: T) => boolean): readonly T[] {
  if (objects.length <= MOST_RESOURCES) return objects
  const [ill, well]: [T[], T[]] = [[], []]
  for (const object of objects) {
    const list = isWell(object) ? well : ill
    if (list.length < MOST_RESOURCES) list.push(object)
  }
  return [...ill, ...well].slice(0, MOST_RESOURCES)
}

function reconciledState({ metadata, spec }: GitOpsDeployment, { destination, project }: SyncOutcome) {
  const { targetRevision = '' } = spec.source
  return {
    source: {
      path: sourcePath(spec.source),
      repoURL: redactUrls(sourceUrl(spec.source)),
      branch: sourceChart(spec.source) ?? targetRevision,
      project,
    },
    destination: { name: spec.destination?.environment ?? '', namespace: destination || (metadata.namespace ?? '') },
  }
}

const fine = (type: string): Statement => ({ type, status: 'False', reason: 'AsExpected', message: '' })
const bad = (type: string, reason: string, message: string): Statement => ({ type, status: 'True', reason, message })
const unready = (reason: string, message: string): Statement => ({ type: 'Ready', status: 'False', reason, message })
