import { byUid, labels } from '../../api/index.ts'
import { hours } from '../../std/index.ts'
import type { Room } from './room.ts'
import { uidOf } from './sight.ts'
import type { Target } from './target.ts'
import type { Connection } from './target-watch.ts'

const EVERY = hours(1)
const MOST_NAMED = 10

/**
 * Looks for objects of workspaces that are no more, once an hour in each target. They are named and not removed: another
 * installation may use the same namespace, and only a person knows.
 */
export function tellOrphans(target: Target, connection: Connection, namespace: string | undefined, room: Room): void {
  const { clock, events, log } = room.workshop
  const now = clock.now()
  const place = `${target.apiURL} ${target.namespace}`
  if (now - (room.searched.get(place) ?? Number.NEGATIVE_INFINITY) < EVERY) return
  room.searched.set(place, now)
  const orphans = [...connection.deployments.all()].filter(
    (deployment) => room.workspaces.by(byUid, uidOf(deployment)).length === 0,
  )
  if (orphans.length === 0) return
  const named = orphans
    .slice(0, MOST_NAMED)
    .map((deployment) => `${deployment.metadata.name} (${labels.workspaceUid}=${uidOf(deployment)})`)
  const more = orphans.length > MOST_NAMED ? `, and ${orphans.length - MOST_NAMED} more` : ''
  const message = `Deployments in namespace ${target.namespace} belong to no workspace that this operator sees: ${named.join(', ')}${more}. If nobody else uses them: kubectl delete deployments,jobs,services,persistentvolumeclaims,secrets,configmaps,networkpolicies,serviceaccounts -n ${target.namespace} -l ${labels.workspaceUid}=UID`
  log.warn('orphans found', { target: target.name, namespace: target.namespace, count: orphans.length })
  const object = room.target({ name: target.name, namespace })
  if (object) events.record(object, { type: 'Warning', reason: 'OrphansFound', message })
}
