import type { Cache, Kube } from '../../../adapters/kube/index.ts'
import {
  ConfigMaps,
  conditionOf,
  Deployments,
  DeploymentTargetClaims,
  finalizers,
  hasFinalizer,
  isDeleting,
  isLeaving,
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
  type WorkspaceClass,
  Workspaces,
  withoutFinalizer,
} from '../../../api/index.ts'
import { removePiece } from '../../../engines/apply/index.ts'
import { again, type ControllerContext, type Next, sentenceOf, settled } from '../../../engines/controller/index.ts'
import { Failure, minutes, seconds } from '../../../std/index.ts'
import { snapshotKind } from '../backup/backup.ts'
import { objectListFrameOf } from '../desired/index.ts'
import { removeManifests } from '../objects/manifests.ts'
import { objectsOf } from '../objects/owned.ts'
import { CONTROLLER, isOwnClaim } from '../place/claim.ts'
import { isObstacle } from '../place/obstacle.ts'
import { type ClaimLookup, claimOf, findTarget, ownClaim } from '../place/target.ts'
import { takeVolume } from '../pool/volume.ts'
import type { DevfileParser } from '../project/devfile.ts'
import type { TargetConnections } from '../watch/connections.ts'
import { lastStop, type PostStop } from './after-stop.ts'
import { keepRecord, REMOVED, type Remains, sayLeft, statusOfEnd } from './end.ts'

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

export interface RemovalServices {
  context: ControllerContext
  classes: Cache<WorkspaceClass>
  lookup: ClaimLookup
  connections: TargetConnections
  parser: DevfileParser
  /** By UID of a workspace that is removed: the objects that are waited for, and since when. */
  removals: Map<string, { what: string; since: number }>
  /** True while the objects of the workspace of this UID are on their way. */
  isApplying(uid: string): boolean
  /** Nothing of the workspace is there any more to be remembered. */
  forget(workspace: Workspace): void
}

/** Removes everything of the workspace, data too. It tolerates that nothing was ever made, and that the way there is gone. */
export async function cleanUp(workspace: Workspace, services: RemovalServices): Promise<Next> {
  if (!hasFinalizer(workspace, finalizers.workspace)) {
    return isDeleting(workspace) ? settled() : keepRecord(workspace, services)
  }
  const { context, lookup } = services
  const rest = services.isApplying(workspace.metadata.uid ?? '') ? APPLYING : await removeFromTarget(workspace, services)
  if (rest) {
    const status = { ...statusOfEnd(workspace, 'Terminating', rest), ...(rest.postStop && { postStop: rest.postStop }) }
    return again({ after: rest.after, why: rest.message, status })
  }

  const claim = ownClaim(workspace, lookup)
  // Only after the objects: with the claim go the credentials.
  if (claim && isOwnClaim(workspace, claim))
    await context.kube.delete(DeploymentTargetClaims, refOf(claim), { uid: claim.metadata.uid })
  services.forget(workspace)
  const without = withoutFinalizer(workspace, finalizers.workspace)
  const object = await context.kube.patch(Workspaces, refOf(workspace), without, { manager: CONTROLLER })
  return isDeleting(workspace) ? settled() : settled({ object, status: statusOfEnd(workspace, 'Terminated', undefined) })
}

/** The end waits for it; `after` so many milliseconds it looks again, if nothing wakes the workspace before. */
type Rest = Remains & { after: number; postStop?: PostStop | undefined }

/** Objects that are still being applied would be there again. */
const APPLYING: Rest = { what: 'its objects', message: 'waiting until its objects are applied, to remove them then', after: SOON }

async function removeFromTarget(workspace: Workspace, services: RemovalServices): Promise<Rest | undefined> {
  const target = findTarget(workspace, workspace.status?.class?.settings?.sharedNamespace, services.lookup)
  if (isObstacle(target)) {
    const way = { to: target.waitingFor ?? '', why: target.message }
    return isCutOff(workspace, services) ? leaveBehind(workspace, services, way.why) : waitFor(workspace, services, way)
  }
  try {
    const { kube } = services.connections.of(workspace, target)
    const { namespace, volume } = target
    if (volume) await takeVolume(kube, workspace, volume, namespace)
    const { what, postStop } = await lastStop(workspace, { ...services, kube, namespace, volume })
    if (what) return { what, message: `stopping it: ${what}`, after: lookAgain(workspace, services, what), postStop }
    const left = sayLeft(await removeAll(workspace, kube, target.namespace))
    return left ? { what: left, message: `removing ${left}`, after: lookAgain(workspace, services, left), postStop } : undefined
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (failure.code === 'cancelled') throw failure
    if (failure.code === 'internal') services.context.log.error('removal failed', { workspace: nameOf(workspace), failure })
    return waitFor(workspace, services, { to: `DeploymentTarget ${target.name}`, why: sentenceOf(failure) })
  }
}

/** True where claim or target are gone for good: new ones would lead elsewhere. */
function isCutOff(workspace: Workspace, { context, lookup }: RemovalServices): boolean {
  const { namespace } = workspace.metadata
  context.caches.requireWhole(namespace ?? '')
  const claim = claimOf(workspace, lookup)
  if (!claim || isDeleting(claim)) return true
  const target = lookup.targets.get({ name: workspace.status?.target?.name ?? '', namespace })
  return !target || isLeaving(target)
}

/** A claim that is not Bound for a moment, a Secret that is being replaced, an API that is away: it may come back. */
function waitFor(workspace: Workspace, services: RemovalServices, { to, why }: { to: string; why: string }): Rest | undefined {
  const { target } = workspace.status ?? {}
  // A workspace that never got to a target has left nothing there.
  if (!target) return undefined
  const since = conditionOf(workspace.status?.conditions, REMOVED)
  const waited = since?.status === 'False' ? services.context.clock.now() - Date.parse(since.lastTransitionTime) : 0
  if (waited >= PATIENCE) return leaveBehind(workspace, services, why)
  const limit = `At the latest after ${PATIENCE / minutes(1)} minutes it is left behind.`
  const message = `waiting for ${to}, to remove what is in namespace ${target.namespace} of ${target.apiURL}: ${why}. ${limit}`
  return { what: to, message, after: Math.min(lookAgain(workspace, services, to), PATIENCE - waited) }
}

/** In as long as it has waited for the same already: soon at first, then seldom. What is watched wakes it earlier. */
function lookAgain({ metadata: { uid = '' } }: Workspace, { removals, context }: RemovalServices, what: string): number {
  const now = context.clock.now()
  const before = removals.get(uid)
  const since = before?.what === what ? before.since : now
  removals.set(uid, { what, since })
  return Math.min(Math.max(now - since, SOON), SELDOM)
}

function leaveBehind(workspace: Workspace, { context }: RemovalServices, why: string): undefined {
  const { target } = workspace.status ?? {}
  if (!target) return
  const message = `what it had in namespace ${target.namespace} of ${target.apiURL} could not be removed: ${why}`
  context.events.record(workspace, { type: 'Warning', reason: 'LeftBehind', message })
}

/** Found by their label, so that nothing is left of a plan that was changed halfway. Things of others stay. */
async function removeAll(workspace: Workspace, kube: Kube, namespace: string): Promise<string[]> {
  const manifests = await removeManifests({ kube, workspace, objectList: objectListFrameOf({ workspace, namespace }) })
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
