import type { ManifestProject } from '../../agentcfg/index.ts'
import { entriesOf, removeAll } from '../../engines/gitops/index.ts'
import { Failure, pause, waitOf } from '../../std/index.ts'
import type { ManifestProjectStatus } from '../ports/reports.ts'
import type { InventoryPlace, RegisteredProject } from './register.ts'
import { destinationOf, inventoryAt, isNear, type LeadershipTerm, ownerFrom, ownerIdOf } from './services.ts'
import { emptyStatus } from './worker.ts'

/** The limits of a configuration, for all its projects. */
export type InventoryLimits = Pick<ManifestProject, 'namespaces' | 'allowedKinds'>

/**
 * Ends a project that is in the configuration no more: its objects stay, or are deleted where its entry said so. Tells so, and ends
 * when nothing is left to do or the signal aborts; the next leader goes on.
 */
export async function retire(
  registered: RegisteredProject,
  limits: InventoryLimits,
  term: LeadershipTerm,
  signal: AbortSignal,
): Promise<void> {
  const { id, deletion } = registered
  const { clock, log, reports } = term
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      const told =
        deletion === 'delete' ? await removeOnce(registered, limits, term, signal) : await leave(registered, limits, term)
      reports.project(told)
      if (deletion !== 'delete' || told.objects === 0) return
    } catch (thrown) {
      if (signal.aborted) return
      const failure = Failure.from(thrown)
      log.warn('what a project left was not deleted', { project: id, error: failure })
      reports.project(gone(id, { objects: 0, reason: failure.reason ?? 'RemovalFailed', message: failure.message }))
    }
    await pause(clock, waitOf(term.backoff, tries), signal)
  }
}

/** Nothing is known of places that may not be looked at any more, and nothing is done there. */
const nearOf = ({ places }: RegisteredProject, limits: InventoryLimits): InventoryPlace[] =>
  places.filter((place) => isNear(place, limits))

async function leave(
  registered: RegisteredProject,
  limits: InventoryLimits,
  term: LeadershipTerm,
): Promise<ManifestProjectStatus> {
  const { id, number } = registered
  const loaded = await Promise.all(nearOf(registered, limits).map((place) => inventoryAt(term, id, place).load()))
  const count = loaded.reduce((sum, inventory) => sum + (inventory?.held.length ?? 0), 0)
  if (registered.places.length === loaded.length && loaded.every((inventory) => !inventory))
    await term.register.revise(number, () => undefined)
  return gone(id, { objects: count, message: `left the configuration; its ${count} objects stay (deletion: orphan)` })
}

async function removeOnce(
  registered: RegisteredProject,
  limits: InventoryLimits,
  term: LeadershipTerm,
  signal: AbortSignal,
): Promise<ManifestProjectStatus> {
  const { id, number, places, deletion } = registered
  const { kube, clock, reports, agentId } = term
  const left: InventoryPlace[] = places.filter((place) => !isNear(place, limits))
  const open = { objects: 0, why: '' }
  for (const place of nearOf(registered, limits)) {
    const inventory = inventoryAt(term, id, place)
    const { held: before = [] } = (await inventory.load()) ?? {}
    reports.project(gone(id, { objects: before.length, message: 'left the configuration; its objects are being deleted' }))
    // The mark follows from who the agent and the project are: whatever an inventory names, nothing else is deleted.
    const owner = ownerFrom(ownerIdOf(agentId, number), place.inventoryId, agentId, id)
    const destination = destinationOf(kube, { defaultNamespace: place.namespace, ...limits })
    const { entries, held } = await removeAll({ destination, owner, inventory }, clock, signal)
    if (held.length === 0) await inventory.remove()
    else left.push(place)
    const [stuck] = entriesOf(entries, 'failed', 'withheld', 'terminating', 'waiting')
    open.objects += held.length
    open.why ||= stuck?.why === undefined ? '' : `: ${stuck.why}`
  }
  await term.register.revise(number, () => (left.length === 0 ? undefined : { id, deletion, places: left }))
  const many = `left the configuration; ${open.objects} objects are still there${open.why}`
  const message = open.objects > 0 ? many : 'left the configuration; its objects were deleted'
  return gone(id, { objects: open.objects, message })
}

const gone = (
  id: string,
  told: Pick<ManifestProjectStatus, 'objects' | 'message'> & { reason?: string },
): ManifestProjectStatus => ({
  ...emptyStatus(id),
  reason: 'Removed',
  removed: true,
  ...told,
})
