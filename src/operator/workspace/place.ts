import { type Ref, type Workspace, type WorkspaceClass, WorkspaceClasses, Workspaces } from '../../api/index.ts'
import { isFailure } from '../../std/index.ts'
import { byClass, type ChosenClass, chosenFrom, classNameOf, counts, openClass } from './class.ts'
import { isObstacle, type Obstacle } from './obstacle.ts'
import { hasPlace, hasQuota, overQuota } from './quota.ts'
import type { Room } from './room.ts'

/** Somebody else has the turn; look again soon. */
export interface Later {
  later: string
}

export const isLater = (found: object): found is Later => 'later' in found

export interface Placed {
  workspace: Workspace
  chosen: ChosenClass
}

/**
 * Gives the workspace a place in its class, and the settings that it keeps, before anything is made for it. Where the class has
 * quotas the write of `status.lastAdmitted` is the lock: who saw an older class than the last admission left meets a conflict,
 * and who has written it last holds a place even before its own status says so.
 */
export async function takePlace(workspace: Workspace, room: Room): Promise<Placed | Obstacle | Later> {
  const first = openClass(workspace, room.classes)
  if (isObstacle(first)) return first
  if (!hasQuota(first)) return settle(workspace, first, room)
  return room.gates.pass(first.metadata.name, async () => {
    // While it stood in line the class may have changed.
    const found = openClass(workspace, room.classes)
    if (isObstacle(found)) return found
    const last = found.status?.lastAdmitted
    if (last?.uid !== workspace.metadata.uid) {
      const refused = await refusalOf(workspace, found, room)
      if (refused) return refused
    }
    return settle(workspace, found, room)
  })
}

async function refusalOf(workspace: Workspace, found: WorkspaceClass, room: Room): Promise<Obstacle | Later | undefined> {
  const { lastAdmitted: last } = found.status ?? {}
  const before = last && (await lastIn(last, room))
  const isUnderWay = before !== undefined && counts(before) && !hasPlace(before)
  const all = room.workspaces.by(byClass, classNameOf(workspace))
  const refused = overQuota(workspace, found, { all, reserved: isUnderWay ? last?.uid : undefined })
  if (refused) return refused
  if (isUnderWay)
    return { later: `Workspace ${last?.namespace}/${last?.name} takes its place in WorkspaceClass ${found.metadata.name}` }
  return (await mark(workspace, found, room)) ? undefined : { later: `WorkspaceClass ${found.metadata.name} has just changed` }
}

/** One that is not in the cache may be younger than the cache. */
async function lastIn({ uid, ...ref }: Ref & { uid: string }, room: Room): Promise<Workspace | undefined> {
  const found = room.workspaces.get(ref) ?? (await room.workshop.kube.get(Workspaces, ref))
  return found?.metadata.uid === uid ? found : undefined
}

async function mark({ metadata }: Workspace, found: WorkspaceClass, { workshop }: Room): Promise<boolean> {
  const { name, namespace = '', uid = '' } = metadata
  const { resourceVersion } = found.metadata
  const patch = { metadata: { resourceVersion }, status: { lastAdmitted: { namespace, name, uid } } }
  try {
    await workshop.kube.patch(WorkspaceClasses, { name: found.metadata.name }, patch, { subresource: 'status' })
    return true
  } catch (thrown) {
    if (isFailure(thrown, 'conflict', 'not-found')) return false
    throw thrown
  }
}

/** The settings are kept at once: a class that changes while the first objects are made must not make half of them. */
async function settle(workspace: Workspace, found: WorkspaceClass, { workshop }: Room): Promise<Placed> {
  const { name, namespace, resourceVersion } = workspace.metadata
  const chosen = chosenFrom(found)
  const status = { actualState: workspace.status?.actualState ?? 'CreationRequested', class: chosen }
  const patch = { metadata: { resourceVersion }, status }
  return { workspace: await workshop.kube.patch(Workspaces, { name, namespace }, patch, { subresource: 'status' }), chosen }
}
