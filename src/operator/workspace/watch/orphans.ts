import type { Cache } from '../../../adapters/kube/index.ts'
import { byUid, type DeploymentTarget, labels, type Workspace } from '../../../api/index.ts'
import type { ControllerContext } from '../../../engines/controller/index.ts'
import { hours, LRUCache } from '../../../std/index.ts'
import type { Target } from '../place/target.ts'
import type { TargetConnection } from './connections.ts'
import { uidOf } from './view.ts'

const EVERY = hours(1)
const MOST_NAMED = 10
/** Tenants name the targets, and as many as they like: of so many namespaces it is known when they were searched. */
const MOST_PLACES = 1000

export type TellOrphans = (target: Target, connection: TargetConnection, namespace: string | undefined) => void

/**
 * Looks for objects of workspaces that are no more, once an hour in each target. They are named and not removed: another
 * installation may use the same namespace, and only a person knows.
 */
export function createOrphanSearch(
  { clock, events, log }: ControllerContext,
  { workspaces, targets }: { workspaces: Cache<Workspace>; targets: Cache<DeploymentTarget> },
): TellOrphans {
  const searched = new LRUCache<string, number>({ max: MOST_PLACES })
  return (target, connection, namespace) => {
    const now = clock.now()
    const place = `${target.apiURL} ${target.namespace}`
    if (now - (searched.get(place) ?? Number.NEGATIVE_INFINITY) < EVERY) return
    searched.set(place, now)
    const orphans = [...connection.deployments.all()].filter((each) => workspaces.by(byUid, uidOf(each)).length === 0)
    if (orphans.length === 0) return
    const named = orphans.slice(0, MOST_NAMED).map((each) => `${each.metadata.name} (${labels.workspaceUid}=${uidOf(each)})`)
    const more = orphans.length > MOST_NAMED ? `, and ${orphans.length - MOST_NAMED} more` : ''
    const message = `Deployments in namespace ${target.namespace} belong to no workspace that this operator sees: ${named.join(', ')}${more}. If nobody else uses them: kubectl delete deployments,jobs,services,persistentvolumeclaims,secrets,configmaps,networkpolicies,serviceaccounts -n ${target.namespace} -l ${labels.workspaceUid}=UID`
    log.warn('orphans found', { target: target.name, namespace: target.namespace, count: orphans.length })
    const object = targets.get({ name: target.name, namespace })
    if (object) events.record(object, { type: 'Warning', reason: 'OrphansFound', message })
  }
}
