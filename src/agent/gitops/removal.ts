import type { ManifestProject } from '../../agentcfg/index.ts'
import { entriesOf, removeAll } from '../../engines/gitops/index.ts'
import { Failure, pause, waitOf } from '../../std/index.ts'
import type { Told } from '../ports.ts'
import { destinationOf, type Found, inventoryFor, ownerFrom, type Term } from './shop.ts'

/**
 * What becomes of the objects of a project that is in the configuration no more: they stay, or are deleted where its entry said
 * so. Tells so, and ends when nothing is left to do or the signal aborts; whoever leads next goes on.
 */
export async function retire(
  found: Found,
  limits: Pick<ManifestProject, 'namespaces'>,
  term: Term,
  signal: AbortSignal,
): Promise<void> {
  const { project: id, inventoryId, namespace, deletion } = found
  const { kube, clock, log, board, agentId } = term
  const inventory = inventoryFor(term, {
    id,
    deletion,
    owner: found.owner,
    inventoryId,
    namespace,
    name: found.map.metadata.name,
  })
  const owner = ownerFrom(found.owner, { inventoryId, agentId, project: id })
  const destination = destinationOf(kube, { defaultNamespace: namespace, allowedKinds: [], ...limits })
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      const { held = [] } = (await inventory.load()) ?? {}
      if (deletion !== 'delete') return board.project(gone(id, { objects: held.length, message: stay(held.length) }))
      board.project(gone(id, { objects: held.length, message: 'left the configuration; its objects are being deleted' }))
      const { entries, held: left } = await removeAll({ destination, owner, inventory }, clock, signal)
      if (left.length === 0) {
        await inventory.remove()
        return board.project(gone(id, { objects: 0, message: 'left the configuration; its objects were deleted' }))
      }
      const [stuck] = entriesOf(entries, 'failed', 'withheld', 'terminating', 'waiting')
      const why = stuck?.why === undefined ? '' : `: ${stuck.why}`
      board.project(
        gone(id, { objects: left.length, message: `left the configuration; ${left.length} objects are still there${why}` }),
      )
    } catch (thrown) {
      if (signal.aborted) return
      const failure = Failure.from(thrown)
      inventory.expire()
      log.warn('what a project left was not deleted', { project: id, error: failure })
      board.project(gone(id, { objects: 0, reason: failure.reason ?? 'RemovalFailed', message: failure.message }))
    }
    await pause(clock, waitOf(term.backoff, tries), signal)
  }
}

const stay = (count: number): string => `left the configuration; its ${count} objects stay (deletion: orphan)`

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
