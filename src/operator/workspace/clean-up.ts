import type { Kube } from '../../adapters/kube/index.ts'
import {
  ConfigMaps,
  conditionOf,
  Deployments,
  DeploymentTargetClaims,
  finalizers,
  hasFinalizer,
  isDeleting,
  Jobs,
  type Kind,
  NetworkPolicies,
  nameOf,
  PersistentVolumeClaims,
  Pods,
  ResourceQuotas,
  refOf,
  Secrets,
  ServiceAccounts,
  Services,
  type Workspace,
} from '../../api/index.ts'
import { removePiece } from '../../engines/apply/index.ts'
import { again, type Next, sentenceOf, settled } from '../../engines/controller/index.ts'
import { Failure, minutes, seconds } from '../../std/index.ts'
import type { PostStop } from './after-stop.ts'
import { snapshotKind } from './care/backup/backup.ts'
import { takeVolume } from './care/pool/volume.ts'
import { keepRecord } from './care/retention.ts'
import { isOwnClaim } from './claim.ts'
import { bookFrameOf } from './desired/index.ts'
import { REMOVED, type Remains, sayLeft, statusOfEnd } from './end.ts'
import { lastStop } from './last-stop.ts'
import { removeManifests } from './manifests.ts'
import { isObstacle } from './obstacle.ts'
import { objectsOf } from './owned.ts'
import { type Room, removeFinalizer } from './room.ts'
import { findTarget } from './target.ts'

const KINDS: readonly Kind[] = [
  Jobs,
  Deployments,
  Services,
  NetworkPolicies,
  PersistentVolumeClaims,
  ServiceAccounts,
  ConfigMaps,
  Secrets,
  ResourceQuotas,
]
/** A target that cannot be reached for so long keeps what it has. */
const PATIENCE = minutes(5)
/** Of one kind in one pass. No workspace has so many; a tenant's server may say that there are any number. */
const MOST_REMOVED = 100
const SOON = seconds(1)
const SELDOM = seconds(30)

/** Removes everything of the workspace, data too. It tolerates that nothing was ever made, and that the way there is gone. */
export async function cleanUp(workspace: Workspace, room: Room): Promise<Next> {
  if (!hasFinalizer(workspace, finalizers.workspace)) {
    return isDeleting(workspace) ? settled() : keepRecord(workspace, room)
  }
  const { uid = '' } = workspace.metadata
  const rest = room.errands.isUnderWay(uid) ? APPLYING : await removeFromTarget(workspace, room)
  if (rest) {
    const status = { ...statusOfEnd(workspace, 'Terminating', rest), ...(rest.postStop && { postStop: rest.postStop }) }
    return again({ after: rest.after, why: rest.message, status })
  }

  const claim = room.ownClaim(workspace)
  // Only after the objects: with the claim go the credentials.
  if (claim && isOwnClaim(workspace, claim))
    await room.workshop.kube.delete(DeploymentTargetClaims, refOf(claim), { uid: claim.metadata.uid })
  room.targets.release(workspace)
  room.errands.forget(uid)
  room.readings.forget(uid)
  room.compared.delete(uid)
  room.removals.delete(uid)
  const object = await removeFinalizer(room, workspace)
  return isDeleting(workspace) ? settled() : settled({ object, status: statusOfEnd(workspace, 'Terminated', undefined) })
}

/** What the end still waits for, and when to look again where nothing wakes the workspace before. */
type Rest = Remains & { after: number; postStop?: PostStop | undefined }

/** What is still being applied would be there again. */
const APPLYING: Rest = { what: 'its objects', message: 'waiting until its objects are applied, to remove them then', after: SOON }

async function removeFromTarget(workspace: Workspace, room: Room): Promise<Rest | undefined> {
  const target = findTarget(workspace, workspace.status?.class?.settings?.sharedNamespace ?? '', room)
  if (isObstacle(target)) {
    const way = { to: target.waitingFor ?? '', why: target.message }
    return isCutOff(workspace, room) ? leaveBehind(workspace, room, way.why) : waitFor(workspace, room, way)
  }
  try {
    const { kube } = room.targets.of(workspace, target)
    const { namespace, volume } = target
    if (volume) await takeVolume(kube, workspace, volume, namespace)
    const { what, postStop } = await lastStop(workspace, { kube, namespace, volume, room })
    if (what) return { what, message: `stopping it: ${what}`, after: lookAgain(workspace, room, what), postStop }
    const left = sayLeft(await removeAll(workspace, kube, target.namespace))
    return left ? { what: left, message: `removing ${left}`, after: lookAgain(workspace, room, left), postStop } : undefined
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (failure.code === 'cancelled') throw failure
    if (failure.code === 'internal') room.workshop.log.error('removal failed', { workspace: nameOf(workspace), failure })
    return waitFor(workspace, room, { to: `DeploymentTarget ${target.name}`, why: sentenceOf(failure) })
  }
}

/** Whether the way to the target is gone for good: a claim or target made anew would lead elsewhere. */
function isCutOff(workspace: Workspace, room: Room): boolean {
  const { namespace } = workspace.metadata
  room.workshop.caches.requireWhole(namespace ?? '')
  const { claimName } = workspace.spec.target ?? {}
  const claim = claimName ? room.claim({ name: claimName, namespace }) : room.ownClaim(workspace)
  if (!claim || isDeleting(claim)) return true
  const target = room.target({ name: workspace.status?.target?.name ?? '', namespace })
  return !target || isDeleting(target)
}

/** A claim that is not Bound for a moment, a Secret that is being replaced, an API that is away: it may come back. */
function waitFor(workspace: Workspace, room: Room, { to, why }: { to: string; why: string }): Rest | undefined {
  const { target } = workspace.status ?? {}
  // A workspace that never got to a target has left nothing there.
  if (!target) return undefined
  const since = conditionOf(workspace.status?.conditions, REMOVED)
  const waited = since?.status === 'False' ? room.workshop.clock.now() - Date.parse(since.lastTransitionTime) : 0
  if (waited >= PATIENCE) return leaveBehind(workspace, room, why)
  const limit = `At the latest after ${PATIENCE / minutes(1)} minutes it is left behind.`
  const message = `waiting for ${to}, to remove what is in namespace ${target.namespace} of ${target.apiURL}: ${why}. ${limit}`
  return { what: to, message, after: Math.min(lookAgain(workspace, room, to), PATIENCE - waited) }
}

/** In as long as it has waited for the same already: soon at first, then seldom. What is watched wakes it earlier. */
function lookAgain({ metadata: { uid = '' } }: Workspace, { removals, workshop }: Room, what: string): number {
  const now = workshop.clock.now()
  const before = removals.get(uid)
  const since = before?.what === what ? before.since : now
  removals.set(uid, { what, since })
  return Math.min(Math.max(now - since, SOON), SELDOM)
}

function leaveBehind(workspace: Workspace, { workshop }: Room, why: string): undefined {
  const { target } = workspace.status ?? {}
  if (!target) return
  const message = `what it had in namespace ${target.namespace} of ${target.apiURL} could not be removed: ${why}`
  workshop.events.record(workspace, { type: 'Warning', reason: 'LeftBehind', message })
}

/** Found by their label, so that nothing is left of a plan that was changed halfway. Things of others stay. */
async function removeAll(workspace: Workspace, kube: Kube, namespace: string): Promise<string[]> {
  const manifests = await removeManifests({ kube, workspace, book: bookFrameOf({ workspace, namespace }) })
  // The list of the devfile's objects goes only after them.
  const snapshots = workspace.status?.backups ? await snapshotKind(kube) : undefined
  const kinds = [...(snapshots ? [snapshots] : []), ...KINDS.filter((kind) => manifests.length === 0 || kind !== ConfigMaps)]
  const objects = objectsOf(workspace, kube)
  const rests = kinds.map(async (kind) => {
    const found = await objects.list(kind, namespace)
    const asked = found.filter((each) => !isDeleting(each)).slice(0, MOST_REMOVED)
    const stays = await Promise.all(asked.map((object) => removePiece(kube, { kind, object })))
    const gone = new Set(asked.filter((_, at) => !stays[at]))
    return found.filter((each) => !gone.has(each)).map((each) => `${kind.kind} ${each.metadata.name}`)
  })
  const left = (await Promise.all(rests)).flat()
  const pods = await objects.list(Pods, namespace)
  return [...manifests, ...left, ...pods.map((pod) => `Pod ${pod.metadata.name}`)]
}
