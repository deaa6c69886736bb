import type { EventRecorder, Occurrence } from '../../../adapters/kube/index.ts'
import { conditionOf, type GitOpsDeployment, isRefusedCommit, type Statement, sourcePath } from '../../../api/index.ts'
import { sayId, sayIds } from '../../../engines/apply/index.ts'
import { sentenceOf } from '../../../engines/controller/index.ts'
import {
  type Entry,
  entriesOf,
  type Held,
  type SyncResult,
  sayEntries,
  sayEntry,
  sayFight,
} from '../../../engines/gitops/index.ts'
import { lookupsIn, type Snapshot } from '../../../engines/render/index.ts'
import type { Failure } from '../../../std/index.ts'
import type { PendingPrune } from './attention.ts'
import { isHookFailed, isNotRun, messageOf } from './hooks.ts'

const TOLD: [Entry['change'], string][] = [
  ['created', 'Created'],
  ['configured', 'Configured'],
  ['pruned', 'Pruned'],
]

/** One Event for each sort of change, not for each object: the API server drops what comes in floods. */
export function tellChanges(
  events: EventRecorder,
  deployment: GitOpsDeployment,
  commitId: string,
  entries: readonly Entry[],
): void {
  for (const [change, reason] of TOLD) {
    const ids = entriesOf(entries, change).map(({ id }) => id)
    if (ids.length > 0) events.record(deployment, { type: 'Normal', reason, message: `${commitId.slice(0, 12)}: ${sayIds(ids)}` })
  }
  for (const entry of entriesOf(entries, 'failed').slice(0, 5)) {
    const reason = isHookFailed(entry) ? 'HookFailed' : 'SyncFailed'
    events.record(deployment, { type: 'Warning', reason, message: sayEntry(entry) })
  }
  const skipped = entriesOf(entries, 'skipped').filter((entry) => !isNotRun(entry))
  for (const entry of skipped.slice(0, 5)) events.record(deployment, { type: 'Normal', reason: 'Kept', message: sayEntry(entry) })
}

/** Told once for each of them: the tree shows them all the time. */
export function tellNotRun(events: EventRecorder, deployment: GitOpsDeployment, entries: readonly Entry[]): void {
  const shown = new Set((deployment.status?.resources ?? []).map(({ message }) => message))
  const fresh = entries.filter((entry) => isNotRun(entry) && !shown.has(messageOf(entry)))
  if (fresh.length > 0) events.record(deployment, { type: 'Warning', reason: 'HookNotRun', message: sayEntries(fresh) })
}

/** Told once for each commit: a chart that makes up what it does not find makes it up each time. */
export function tellLookups(events: EventRecorder, deployment: GitOpsDeployment, snapshot: Snapshot): void {
  if (deployment.status?.sync?.revision === snapshot.commitId) return
  const [first, ...more] = lookupsIn(snapshot, sourcePath(deployment.spec.source))
  if (first === undefined) return
  const others = more.length > 0 ? ` and ${more.length} more` : ''
  const message = `${first}${others} asks the cluster for objects by lookup, which finds nothing where a chart is rendered from Git; give it as a value what it makes up then`
  events.record(deployment, { type: 'Warning', reason: 'LookupFindsNothing', message })
}

/** A newer commit that kas does not give out: told once for each thing that is to be said of it. The status says it all the time. */
export function tellRefused(events: EventRecorder, deployment: GitOpsDeployment, source: Failure | undefined): void {
  if (!source?.reason || !isRefusedCommit(source.reason)) return
  const [reason, message] = [source.reason, sentenceOf(source)]
  const told = conditionOf(deployment.status?.conditions, 'ErrorOccurred')
  if (told?.reason !== reason || told.message !== message) events.record(deployment, { type: 'Warning', reason, message })
}

/** Told once for each commit and guard: the status says it all the time. */
export function tellPending(events: EventRecorder, deployment: GitOpsDeployment, pending: PendingPrune | undefined): void {
  const { revision, reason } = deployment.status?.pendingPrune ?? {}
  if (!pending || (pending.revision === revision && pending.reason === reason)) return
  events.record(deployment, { type: 'Warning', reason: pending.reason, message: pending.message.slice(0, 1000) })
}

export function tellReleased(events: EventRecorder, deployment: GitOpsDeployment, entries: readonly Entry[]): void {
  if (entries.length === 0) return
  const message = `${sayIds(entries.map(({ id }) => id))} stay and belong to no deployment any more`
  events.record(deployment, { type: 'Normal', reason: 'Released', message })
}

export function tellLeftBehind(
  events: EventRecorder,
  deployment: GitOpsDeployment,
  ids: readonly Pick<Held, 'id'>[],
  why: string,
): void {
  if (ids.length === 0) return
  events.record(deployment, {
    type: 'Warning',
    reason: 'LeftBehind',
    message: `${sayIds(ids.map(({ id }) => id))} stay where they are: ${why}`,
  })
}

/** Tells which objects were changed by hand and set back, and who changed them. */
export function tellRepairs(events: EventRecorder, deployment: GitOpsDeployment, repairs: SyncResult['repairs']): void {
  if (repairs.length === 0) return
  const said = repairs.slice(0, 8).map(({ id, fields, by }) => {
    const what = `: ${fields.slice(0, 4).join(', ')}`
    if (fields.length === 0) return `${sayId(id)} had been deleted, and was made again`
    return `${sayId(id)}${what}${by.length > 0 ? ` (changed by ${by.join(', ')})` : ''}`
  })
  const more = repairs.length > said.length ? ` and ${repairs.length - said.length} more` : ''
  events.record(deployment, { type: 'Normal', reason: 'DriftRepaired', message: said.join('; ') + more })
}

export function tellFights(events: EventRecorder, deployment: GitOpsDeployment, fights: SyncResult['fights']): void {
  for (const fight of fights.slice(0, 5))
    events.record(deployment, { type: 'Warning', reason: 'Fight', message: sayFight(fight) })
}

/** Told when it begins: the condition says it all the time. */
export function tellOnce(events: EventRecorder, deployment: GitOpsDeployment, occurrence: Occurrence): void {
  if (conditionOf(deployment.status?.conditions, 'Ready')?.reason !== occurrence.reason) events.record(deployment, occurrence)
}

/** Told when it changes: the condition says it all the time. */
export function tellContested(events: EventRecorder, deployment: GitOpsDeployment, said: readonly Statement[] = []): void {
  const { status, reason, message } = said.find(({ type }) => type === 'Contested') ?? {}
  if (status !== 'True' || reason === undefined || message === undefined) return
  if (conditionOf(deployment.status?.conditions, 'Contested')?.message !== message)
    events.record(deployment, { type: 'Warning', reason, message: message.slice(0, 1000) })
}
