import type { Kube } from '../../../adapters/kube/index.ts'
import {
  Jobs,
  type Kind,
  type KubeObject,
  notTrue,
  PersistentVolumeClaims,
  type Statement,
  type Workspace,
  type WorkspaceStatus,
} from '../../../api/index.ts'
import { sentenceOf } from '../../../engines/controller/index.ts'
import { Failure, isFailure, minutes, seconds, timestamp } from '../../../std/index.ts'
import { archiveJob, archivesOf } from '../desired/archive.ts'
import { envelope } from '../desired/envelope.ts'
import type { WorkspacePlan } from '../desired/index.ts'
import { digest } from '../desired/names.ts'
import { besideName } from '../desired/parts.ts'
import { volumeNameOf } from '../desired/volumes.ts'
import { objectsOf } from '../objects/owned.ts'

export type Backup = NonNullable<WorkspaceStatus['backups']>[number]

/** Snapshots and the pods of Jobs are not watched. */
const LOOK = seconds(5)
/** A driver that has not made a snapshot by then will not. */
const SNAPSHOT_LIMIT = minutes(30)

interface Snapshot extends KubeObject {
  spec?: { source: { persistentVolumeClaimName: string }; volumeSnapshotClassName?: string }
  status?: { readyToUse?: boolean; restoreSize?: number | string; error?: { message?: string } }
}

/** The kind, where the API serves it. */
export const snapshotKind = (kube: Kube): Promise<Kind<Snapshot> | undefined> =>
  kube.resolve('snapshot.storage.k8s.io/v1', 'VolumeSnapshot')

interface Occasion {
  plan: WorkspacePlan
  kube: Kube
  /** All its pods are gone, and it is to stay so. */
  isDown: boolean
  /** It is to run. */
  isWanted: boolean
  now: number
}

export interface BackedUp {
  backups?: Backup[] | undefined
  recheckAt?: number | undefined
}

/** Backs the volume up after a stop, once, and follows what is under way. Nothing waits for it, and no failure of it ends anything. */
export async function backUp(occasion: Occasion): Promise<BackedUp> {
  const { plan, isDown, now } = occasion
  const { startedAt, backups: before = [] } = plan.workspace.status ?? {}
  const isDue = isDown && plan.settings.backup?.onStop === true && startedAt !== undefined
  const isNew = isDue && !before.some((each) => each.of === startedAt)
  if (!isNew && !before.some(({ state }) => state === 'Running')) return before.length > 0 ? { backups: before } : {}
  const begun = isNew ? [await begin(occasion, startedAt), ...before] : before
  const backups = await Promise.all(begun.map((each) => (each.state === 'Running' ? look(occasion, each) : each)))
  const isUnderWay = backups.some(({ state }) => state === 'Running')
  return { backups: await thinned(occasion, backups), ...(isUnderWay && { recheckAt: now + LOOK }) }
}

/** The name follows from the stop: who finds what it had made before it was killed goes on with it. */
async function begin({ plan, kube, now }: Occasion, startedAt: string): Promise<Backup> {
  const { workspace, settings } = plan
  const name = besideName(workspace, `backup-${digest(`${workspace.metadata.uid} ${startedAt}`).slice(0, 8)}`)
  const objects = objectsOf(workspace, kube)
  const since = timestamp(now)
  const kind = await snapshotKind(kube)
  const told = { name, kind: kind ? ('VolumeSnapshot' as const) : ('Archive' as const), of: startedAt, since }
  try {
    if (kind) {
      const { volumeSnapshotClassName } = settings.backup ?? {}
      const source = { persistentVolumeClaimName: volumeNameOf(plan) }
      const snapshot: Snapshot = {
        ...envelope(plan, kind, name),
        spec: { source, ...(volumeSnapshotClassName && { volumeSnapshotClassName }) },
      }
      await objects.make(kind, snapshot)
      return { ...told, state: 'Running' }
    }
    await objects.make(PersistentVolumeClaims, archivesOf(plan))
    await objects.make(Jobs, archiveJob(plan, name))
    return { ...told, state: 'Running' }
  } catch (thrown) {
    if (isFailure(thrown, 'unavailable', 'timeout', 'cancelled', 'conflict', 'internal')) throw thrown
    const what = kind ? 'volumesnapshots of snapshot.storage.k8s.io' : 'jobs and persistentvolumeclaims'
    const remedy = `Let the target's credentials create ${what} there, then stop it again after a start.`
    return { ...told, state: 'Failed', message: `${sentenceOf(Failure.from(thrown))} ${remedy}` }
  }
}

async function look(occasion: Occasion, backup: Backup): Promise<Backup> {
  const end = backup.kind === 'VolumeSnapshot' ? await endOfSnapshot(occasion, backup) : await endOfArchive(occasion, backup)
  return end ? { ...backup, since: timestamp(occasion.now), ...end } : backup
}

type End = Pick<Backup, 'state' | 'size' | 'message'>

const failed = (message: string): End => ({ state: 'Failed', message })

async function endOfSnapshot({ plan, kube, now }: Occasion, { name, since }: Backup): Promise<End | undefined> {
  const kind = await snapshotKind(kube)
  const live = kind && (await kube.get(kind, { name, namespace: plan.namespace }))
  if (!live) return failed(`VolumeSnapshot ${name} was removed before it was ready. The next stop makes another.`)
  const { readyToUse, restoreSize, error } = live.status ?? {}
  if (readyToUse) return { state: 'Ready', ...(restoreSize !== undefined && { size: String(restoreSize) }) }
  if (now - Date.parse(since) < SNAPSHOT_LIMIT) return undefined
  const why = error?.message ?? 'its driver says nothing; is there one, and a VolumeSnapshotClass for it?'
  return failed(`VolumeSnapshot ${name} was not ready in ${SNAPSHOT_LIMIT / minutes(1)} minutes: ${why}`.slice(0, 1024))
}

async function endOfArchive({ plan, kube, isWanted }: Occasion, { name }: Backup): Promise<End | undefined> {
  const ref = { name, namespace: plan.namespace }
  const live = await kube.get(Jobs, ref)
  if (!live) return failed(`Job ${name} was removed before it ended. The next stop makes another.`)
  const holds = (type: string) => live.status?.conditions?.find((each) => each.type === type && each.status === 'True')
  if (holds('Complete')) {
    await kube.delete(Jobs, ref, { propagation: 'Background' })
    return { state: 'Ready' }
  }
  const wrong = holds('Failed')
  if (wrong) {
    const logs = `kubectl logs job/${name} -n ${plan.namespace}`
    return failed(`Job ${name}: ${wrong.message ?? wrong.reason ?? 'it failed'}. Is backup.archive.size enough? ${logs}`)
  }
  if (!isWanted) return undefined
  // Half of an archive of files that change is worth nothing, and a start waits for no backup.
  await kube.delete(Jobs, ref, { propagation: 'Background' })
  return failed('it was given up, because the workspace was started again. The next stop makes another.')
}

/** Keeps as many as the class says, and of those that failed the last one only. Archives are thinned by their Job. */
async function thinned({ plan, kube }: Occasion, backups: Backup[]): Promise<Backup[]> {
  const ready = backups.filter(({ state }) => state === 'Ready').slice(0, plan.settings.backup?.keep ?? 3)
  const kept = backups.filter(
    (each, i) => each.state === 'Running' || ready.includes(each) || (each.state === 'Failed' && i === 0),
  )
  for (const { name, kind } of backups.filter((each) => !kept.includes(each)))
    await removeOne(kube, { name, kind, namespace: plan.namespace })
  return kept
}

async function removeOne(kube: Kube, { name, kind, namespace }: { name: string; kind: Backup['kind']; namespace: string }) {
  const of = kind === 'VolumeSnapshot' ? await snapshotKind(kube) : Jobs
  if (of) await kube.delete(of, { name, namespace }, { propagation: 'Background' })
}

/** Said as long as the last stop has no backup. */
export function onBackups({ status }: Workspace, backups: Backup[] | undefined = status?.backups): Statement[] {
  const [last] = backups ?? []
  if (last?.state !== 'Failed') return []
  return [notTrue('BackedUp', 'BackupFailed', last.message ?? 'the last backup failed')]
}
