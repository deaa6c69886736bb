import type { Cache } from '../../../adapters/kube/index.ts'
import { keyOf, type Ref, refOf, type Workspace, type WorkspaceClass, WorkspaceClasses, Workspaces } from '../../../api/index.ts'
import type { ControllerContext } from '../../../engines/controller/index.ts'
import { type Turnstile, unlessFailed } from '../../../std/index.ts'
import { byClass, type ChosenClass, type ClassDefaults, chosenFrom, classNameOf, counts, openClass } from './class.ts'
import { classObstacle, isObstacle, type Obstacle } from './obstacle.ts'

export interface PlaceServices extends Pick<ControllerContext, 'kube'> {
  workspaces: Cache<Workspace>
  classes: Cache<WorkspaceClass>
  defaults: ClassDefaults
  /** One workspace of a class after the other is given its place. */
  turns: Turnstile
}

/** Somebody else has the turn; look again soon. */
interface Later {
  later: string
}

export const isLater = (found: object): found is Later => 'later' in found

interface Placed {
  workspace: Workspace
  chosen: ChosenClass
}

export const hasPlace = ({ status }: Workspace): boolean => status?.class?.settings !== undefined

/**
 * Gives the workspace a place in its class, and the settings that it keeps, before anything is made for it. Where the class has
 * quotas the write of `status.lastAdmitted` is the lock: who saw an older class than the last write left meets a conflict, and who has
 * written it last holds a place even before its own status says so.
 */
export async function takePlace(workspace: Workspace, services: PlaceServices): Promise<Placed | Obstacle | Later> {
  const { classes, turns } = services
  const first = openClass(workspace, classes)
  if (isObstacle(first)) return first
  const { workspacesQuota = -1, workspacesPerUserQuota = -1 } = first.spec
  if (workspacesQuota < 0 && workspacesPerUserQuota < 0) return keepSettings(workspace, first, services)
  return turns.pass(first.metadata.name, async () => {
    // While it stood in line the class may have changed.
    const found = openClass(workspace, classes)
    if (isObstacle(found)) return found
    const isAdmitted = found.status?.lastAdmitted?.uid === workspace.metadata.uid
    const refused = isAdmitted ? undefined : await checkQuota(workspace, found, services)
    return refused ?? keepSettings(workspace, found, services)
  })
}

async function checkQuota(
  workspace: Workspace,
  found: WorkspaceClass,
  services: PlaceServices,
): Promise<Obstacle | Later | undefined> {
  const { name } = found.metadata
  const { lastAdmitted: last } = found.status ?? {}
  const before = last && (await lastIn(last, services))
  const isUnderWay = before !== undefined && counts(before) && !hasPlace(before)
  const all = services.workspaces.by(byClass, classNameOf(workspace))
  const refused = overQuota(workspace, found, { all, reserved: isUnderWay ? last?.uid : undefined })
  if (refused) return refused
  if (isUnderWay) return { later: `Workspace ${last?.namespace}/${last?.name} takes its place in WorkspaceClass ${name}` }
  return (await markLastAdmitted(workspace, found, services)) ? undefined : { later: `WorkspaceClass ${name} has just changed` }
}

/** One that is not in the cache may be younger than the cache. */
async function lastIn({ uid, ...ref }: Ref & { uid: string }, { kube, workspaces }: PlaceServices) {
  const found = workspaces.get(ref) ?? (await kube.get(Workspaces, ref))
  return found?.metadata.uid === uid ? found : undefined
}

function markLastAdmitted({ metadata }: Workspace, found: WorkspaceClass, { kube }: PlaceServices): Promise<boolean> {
  const { name, namespace = '', uid = '' } = metadata
  const { resourceVersion } = found.metadata
  const patch = { metadata: { resourceVersion }, status: { lastAdmitted: { namespace, name, uid } } }
  const ref = { name: found.metadata.name }
  return unlessFailed(kube.patch(WorkspaceClasses, ref, patch, { subresource: 'status' }), 'conflict', 'not-found')
}

/** The settings are kept at once: a class that changes while the first objects are made must not make half of them. */
async function keepSettings(workspace: Workspace, found: WorkspaceClass, services: PlaceServices): Promise<Placed> {
  const { name, namespace, resourceVersion } = workspace.metadata
  const chosen = chosenFrom(found, services.defaults)
  const status = { actualState: workspace.status?.actualState ?? 'CreationRequested', class: chosen }
  const patch = { metadata: { resourceVersion }, status }
  return { workspace: await services.kube.patch(Workspaces, { name, namespace }, patch, { subresource: 'status' }), chosen }
}

interface Rule {
  field: 'workspacesQuota' | 'workspacesPerUserQuota'
  most: number
  /** They have the places. */
  holders: readonly Workspace[]
}

/**
 * Why there is no place for the workspace; nothing when there is one. Those that wait get the places in the order in which they
 * were created, so that nobody waits for ever; one that its owner's quota holds back holds nobody else back.
 */
export function overQuota(
  workspace: Workspace,
  found: WorkspaceClass,
  { all, reserved }: { all: readonly Workspace[]; reserved: string | undefined },
): Obstacle | undefined {
  const others = all.filter((other) => counts(other) && other.metadata.uid !== workspace.metadata.uid)
  const isIn = (other: Workspace) => hasPlace(other) || other.metadata.uid === reserved
  const holders = others.filter(isIn)
  const isBefore = (other: Workspace) => rankOf(other) < rankOf(workspace)
  const waiting = others.filter((other) => !isIn(other) && isBefore(other)).sort(byRank)
  for (const other of waiting) if (!brokenRule(other, found, holders)) holders.push(other)
  const broken = brokenRule(workspace, found, holders)
  return broken && refusal(workspace, found, broken)
}

const rankOf = (each: Workspace): string => `${each.metadata.creationTimestamp ?? ''} ${keyOf(refOf(each))}`
const byRank = (one: Workspace, other: Workspace): number => (rankOf(one) < rankOf(other) ? -1 : 1)

function brokenRule({ spec }: Workspace, { spec: limits }: WorkspaceClass, holders: readonly Workspace[]): Rule | undefined {
  const { workspacesQuota = -1, workspacesPerUserQuota = -1 } = limits
  const ofOwner = holders.filter((other) => other.spec.owner === spec.owner)
  const rules: Rule[] = [
    { field: 'workspacesQuota', most: workspacesQuota, holders },
    { field: 'workspacesPerUserQuota', most: workspacesPerUserQuota, holders: ofOwner },
  ]
  return rules.find((rule) => rule.most >= 0 && rule.holders.length >= rule.most)
}

const MOST_NAMED = 8

const elsewhere = (count: number): string => (count === 1 ? 'one of another namespace' : `${count} of other namespaces`)

/** Which quota it is, and who has it; of namespaces that are not the workspace's own only how many. */
function refusal({ metadata, spec }: Workspace, found: WorkspaceClass, { field, most, holders }: Rule): Obstacle {
  const { name } = found.metadata
  const isSameOwner = (other: Workspace) => spec.owner !== undefined && spec.owner === other.spec.owner
  // Caches have them in orders of their own: two operators that act would write their two messages over each other for ever.
  const known = holders.filter((other) => other.metadata.namespace === metadata.namespace || isSameOwner(other)).sort(byRank)
  const named = known.slice(0, MOST_NAMED).map((other) => `${keyOf(refOf(other))} (${other.spec.owner ?? 'nobody'})`)
  const rest = holders.length - named.length
  const list = [...named, ...(rest > 0 ? [named.length > 0 ? `${rest} more` : elsewhere(rest)] : [])].join(', ')
  const whose = field === 'workspacesQuota' ? '' : ` of ${spec.owner ?? 'nobody'}`
  const allows = `WorkspaceClass ${name} allows ${most} workspace${most === 1 ? '' : 's'}${whose} by its ${field}`
  const message = holders.length > 0 ? `${allows}, held by ${list}` : `${allows}, which is none`
  const remedy = 'Terminate one of them, or have the quota raised; this one starts by itself then.'
  return classObstacle('WorkspaceQuotaExceeded', { message, remedy, waitingFor: `a place in WorkspaceClass ${name}` })
}
