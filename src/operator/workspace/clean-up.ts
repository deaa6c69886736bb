import type { Kube } from '../../adapters/kube/index.ts'
import {
  Deployments,
  DeploymentTargetClaims,
  finalizers,
  hasFinalizer,
  isDeleting,
  type Kind,
  labels,
  NetworkPolicies,
  PersistentVolumeClaims,
  Pods,
  refOf,
  Secrets,
  ServiceAccounts,
  Services,
  type Workspace,
} from '../../api/index.ts'
import { again, type Next, settled } from '../../engines/controller/index.ts'
import { Failure, minutes, seconds } from '../../std/index.ts'
import { isOwnClaim } from './claim.ts'
import { objectNameOf } from './names.ts'
import { isObstacle } from './obstacle.ts'
import { type Room, removeFinalizer } from './room.ts'
import { statusOfEnd } from './status.ts'
import { findTarget } from './target.ts'
import { variablesNameOf } from './variables.ts'

const REMOVED: readonly Kind[] = [Deployments, Services, NetworkPolicies, PersistentVolumeClaims, ServiceAccounts]
/** A target that does not answer for so long after the deletion keeps what it has. */
const PATIENCE = minutes(5)
const LOOK_AGAIN = seconds(1)

/** Removes everything of the workspace, data too. It tolerates that nothing was ever made, and that the way there is gone. */
export async function cleanUp(workspace: Workspace, room: Room): Promise<Next> {
  if (!hasFinalizer(workspace, finalizers.workspace)) {
    return settled(isDeleting(workspace) ? {} : { status: statusOfEnd(workspace, 'Terminated', undefined) })
  }
  const left = await removeFromTarget(workspace, room)
  if (left.length > 0) {
    const status = statusOfEnd(workspace, 'Terminating', left.join(', '))
    return again({ after: LOOK_AGAIN, why: `${left.join(', ')} is being removed`, status })
  }
  const claim = room.ownClaim(workspace)
  // Only after the objects: with the claim go the credentials.
  if (claim && isOwnClaim(workspace, claim))
    await room.workshop.kube.delete(DeploymentTargetClaims, refOf(claim), { uid: claim.metadata.uid })
  room.targets.release(workspace)
  room.compared.delete(workspace.metadata.uid ?? '')
  const object = await removeFinalizer(room, workspace)
  return isDeleting(workspace) ? settled() : settled({ object, status: statusOfEnd(workspace, 'Terminated', undefined) })
}

/** What is still there. Nothing, when the target or its credentials are gone: nobody can remove it then. */
async function removeFromTarget(workspace: Workspace, room: Room): Promise<string[]> {
  const target = findTarget(workspace, workspace.status?.class?.settings?.sharedNamespace ?? '', room)
  if (isObstacle(target)) return leftBehind(workspace, room, target.message)
  const { kube } = room.targets.of(workspace, target)
  try {
    return await removeAll(workspace, kube, target.namespace)
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (!isHopeless(workspace, failure, room.workshop.clock.now())) throw failure
    return leftBehind(workspace, room, failure.message)
  }
}

/** Credentials that are refused will not come back; a target that is away may, but nobody waits for it for ever. */
function isHopeless({ metadata }: Workspace, failure: Failure, now: number): boolean {
  if (failure.code === 'cancelled') return false
  if (failure.code === 'unauthorized') return true
  return metadata.deletionTimestamp !== undefined && now - Date.parse(metadata.deletionTimestamp) > PATIENCE
}

function leftBehind(workspace: Workspace, { workshop }: Room, why: string): string[] {
  // A workspace that never got to a target has left nothing there.
  if (workspace.status?.target === undefined) return []
  const message = `what it had in namespace ${workspace.status.target.namespace} of ${workspace.status.target.apiURL} could not be removed: ${why}`
  workshop.events.record(workspace, { type: 'Warning', reason: 'LeftBehind', message })
  return []
}

async function removeAll(workspace: Workspace, kube: Kube, namespace: string): Promise<string[]> {
  const name = objectNameOf(workspace)
  const left = await Promise.all(
    REMOVED.map(async (kind) => ((await removeOwn(workspace, kube, kind, { name, namespace })) ? `${kind.kind} ${name}` : '')),
  )
  const variables = { name: variablesNameOf(name), namespace }
  if (await removeOwn(workspace, kube, Secrets, variables)) left.push(`Secret ${variables.name}`)
  const pods = await kube.list(Pods, { namespace, labels: `${labels.workspaceUid}=${workspace.metadata.uid}` })
  return [...left.filter(Boolean), ...pods.map((pod) => `Pod ${pod.metadata.name}`)]
}

/** Whether it is still there. Things of the same name that are not the workspace's stay. */
async function removeOwn(
  { metadata }: Workspace,
  kube: Kube,
  kind: Kind,
  ref: { name: string; namespace: string },
): Promise<boolean> {
  const live = await kube.get(kind, ref)
  if (live?.metadata.labels?.[labels.workspaceUid] !== metadata.uid || !live) return false
  if (!isDeleting(live)) await kube.delete(kind, ref, { uid: live.metadata.uid, propagation: 'Background' })
  return (await kube.get(kind, ref)) !== undefined
}
