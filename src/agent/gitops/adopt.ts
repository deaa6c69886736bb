import type { Kube } from '../../adapters/kube/index.ts'
import type { InventoryPolicy } from '../../agentcfg/index.ts'
import type { AnyObject, Kind } from '../../api/index.ts'
import { type Held, OWNER_LABEL } from '../../engines/gitops/index.ts'
import { isFailure } from '../../std/index.ts'
import { mayTake } from './policy.ts'

interface Adopting {
  kube: Kube
  owner: string
  inventoryId: string
  policy: InventoryPolicy
  signal: AbortSignal
}

/**
 * Puts our mark on what agentk's inventory names, so that it is pruned like everything else when it has left the repository. What
 * belongs to another inventory, or to another sync of ours, is let be.
 */
export async function adopt(held: readonly Held[], adopting: Adopting): Promise<void> {
  for (const item of held) {
    adopting.signal.throwIfAborted()
    await adoptOne(item, adopting)
  }
}

/** The same place in the API, read as objects of whose inside nothing is known. */
const kindOfAny = ({ group, version, kind, plural, namespaced }: Kind): Kind<AnyObject> => ({
  group,
  version,
  kind,
  plural,
  namespaced,
})

async function adoptOne({ id, version }: Held, { kube, owner, inventoryId, policy, signal }: Adopting): Promise<void> {
  const served = await kube.resolve(id.group === '' ? version : `${id.group}/${version}`, id.kind)
  if (!served) return
  const kind = kindOfAny(served)
  const ref = { name: id.name, namespace: id.namespace }
  try {
    const live = await kube.get(kind, ref, signal)
    if (!live || live.metadata.labels?.[OWNER_LABEL] !== undefined || !mayTake(live, inventoryId, policy)) return
    const { resourceVersion } = live.metadata
    await kube.patch(kind, ref, { metadata: { resourceVersion, labels: { [OWNER_LABEL]: owner } } }, { manager: 'berth-agent' })
  } catch (failure) {
    // Gone, closed to us, or written by somebody else at this moment: it is looked at again before anything is done to it.
    if (!isFailure(failure, 'not-found', 'forbidden', 'conflict')) throw failure
  }
}
