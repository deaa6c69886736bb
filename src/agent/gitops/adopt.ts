import type { Kube } from '../../adapters/kube/index.ts'
import type { AnyObject, Kind } from '../../api/index.ts'
import { sayId } from '../../engines/apply/index.ts'
import { type Destination, type Held, OWNER_LABEL, trespassOf } from '../../engines/gitops/index.ts'
import { isFailure } from '../../std/index.ts'
import { OWNING } from './policy.ts'

interface Adopting {
  kube: Kube
  owner: string
  inventoryId: string
  destination: Destination
  signal: AbortSignal
}

/**
 * Puts our mark on what agentk's inventory names, so that it is pruned like everything else when it has left the repository. Whoever
 * may write ConfigMaps there may name anything in it: only what says itself that it belongs to this inventory is taken, whatever
 * `inventory_policy` allows the repository. Answers what is left alone because it lies beyond the limits, a sentence about each.
 */
export async function adopt(held: readonly Held[], adopting: Adopting): Promise<string[]> {
  const left: string[] = []
  for (const item of held) {
    adopting.signal.throwIfAborted()
    const objection = trespassOf(item.id, adopting.destination)
    if (objection === undefined) await adoptOne(item, adopting)
    else left.push(`${sayId(item.id)} ${objection}`)
  }
  return left
}

/** The same place in the API, read as objects of whose inside nothing is known. */
const kindOfAny = ({ group, version, kind, plural, namespaced }: Kind): Kind<AnyObject> => ({
  group,
  version,
  kind,
  plural,
  namespaced,
})

async function adoptOne({ id, version }: Held, { kube, owner, inventoryId, signal }: Adopting): Promise<void> {
  const served = await kube.resolve(id.group === '' ? version : `${id.group}/${version}`, id.kind)
  if (!served) return
  const kind = kindOfAny(served)
  const ref = { name: id.name, namespace: id.namespace }
  try {
    const live = await kube.get(kind, ref, signal)
    if (!live || live.metadata.labels?.[OWNER_LABEL] !== undefined || live.metadata.annotations?.[OWNING] !== inventoryId) return
    const { resourceVersion } = live.metadata
    await kube.patch(kind, ref, { metadata: { resourceVersion, labels: { [OWNER_LABEL]: owner } } }, { manager: 'berth-agent' })
  } catch (failure) {
    // Gone, closed to us, or written by somebody else at this moment: it is looked at again before anything is done to it.
    if (!isFailure(failure, 'not-found', 'forbidden', 'conflict')) throw failure
  }
}
