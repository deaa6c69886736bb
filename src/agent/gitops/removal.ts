import type { ManifestProject } from '../../agentcfg/index.ts'
import { entriesOf, removeAll } from '../../engines/gitops/index.ts'
import { Failure, pause, waitOf } from '../../std/index.ts'
import type { Told } from '../ports.ts'
import type { Place, Registered } from './register.ts'
import { destinationOf, inventoryAt, isNear, ownerFrom, ownerIdOf, type Term } from './shop.ts'

/** Of a configuration, for all its projects. */
export type Limits = Pick<ManifestProject, 'namespaces' | 'allowedKinds'>

/**
 * What becomes of the objects of a project that is in the configuration no more: they stay, or are deleted where its entry said
 * so. Tells so, and ends when nothing is left to do or the signal aborts; whoever leads next goes on.
 */
export async function retire(registered: Registered, limits: Limits, term: Term, signal: AbortSignal): Promise<void> {
  const { id, deletion } = registered
  const { clock, log, board } = term
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      const told =
        deletion === 'delete' ? await removeOnce(registered, limits, term, signal) : await leave(registered, limits, term)
      board.project(told)
      if (deletion !== 'delete' || told.objects === 0) return
    } catch (thrown) {
      if (signal.aborted) return
      const failure = Failure.from(thrown)
      log.warn('what a project left was not deleted', { project: id, error: failure })
      board.project(gone(id, { objects: 0, reason: failure.reason ?? 'RemovalFailed', message: failure.message }))
    }
    await pause(clock, waitOf(term.backoff, tries), signal)
  }
}

/** Of places that may be looked at no more nothing is known, and nothing is done there. */
const nearOf = ({ places }: Registered, limits: Limits): Place[] => places.filter((place) => isNear(place, limits))

async function leave(registered: Registered, limits: Limits, term: Term): Promise<Told> {
  const { id, number } = registered
  const loaded = await Promise.all(nearOf(registered, limits).map((place) => inventoryAt(term, id, place).load()))
  const count = loaded.reduce((sum, inventory) => sum + (inventory?.held.length ?? 0), 0)
  if (registered.places.length === loaded.length && loaded.every((inventory) => !inventory))
    await term.register.revise(number, () => undefined)
  return gone(id, { objects: count, message: `left the configuration; its ${count} objects stay (deletion: orphan)` })
}

async function removeOnce(registered: Registered, limits: Limits, term: Term, signal: AbortSignal): Promise<Told> {
  const { id, number, places, deletion } = registered
  const { kube, clock, board, agentId } = term
  const left: Place[] = places.filter((place) => !isNear(place, limits))
  const open = { objects: 0, why: '' }
  for (const place of nearOf(registered, limits)) {
    const inventory = inventoryAt(term, id, place)
    const { held: before = [] } = (await inventory.load()) ?? {}
    board.project(gone(id, { objects: before.length, message: 'left the configuration; its objects are being deleted' }))
    // The mark follows from who the agent and the project are: whatever an inventory names, nothing else is deleted.
    const owner = ownerFrom(ownerIdOf(agentId, number), { inventoryId: place.inventoryId, agentId, project: id })
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

const gone = (id: string, told: Pick<Told, 'objects' | 'message'> & { reason?: string }): Told => ({
  id,
  commitId: '',
  undone: 0,
  health: 'Unknown',
  reason: 'Removed',
  syncedAt: undefined,
  removed: true,
  ...told,
})
