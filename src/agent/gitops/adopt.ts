import type { Kube } from '../../adapters/kube/index.ts'
import type { AnyObject, Kind } from '../../api/index.ts'
import { refOfId, sayId } from '../../engines/apply/index.ts'
import { type Destination, type Held, OWNER_LABEL, trespassOf } from '../../engines/gitops/index.ts'
import { isFailure } from '../../std/index.ts'
import { OWNING } from './policy.ts'

interface AdoptOptions {
  kube: Kube
  owner: string
  inventoryId: string
  destination: Destination
  signal: AbortSignal
}

/**
 * Puts our mark on the objects that agentk's inventory names, so that they are pruned like everything else when they have left the
 * repository. Anybody who may write ConfigMaps there may name anything in it: only an object that says itself that it belongs to this
 * inventory is taken, whatever `inventory_policy` allows the repository. Answers with a sentence about each object that is left alone
 * because it lies beyond the limits.
 */
export async function adopt(held: readonly Held[], options: AdoptOptions): Promise<string[]> {
  const left: string[] = []
  for (const item of held) {
    options.signal.throwIfAborted()
    const objection = trespassOf(item.id, options.destination)
    if (objection === undefined) await adoptOne(item, options)
    else left.push(`${sayId(item.id)} ${objection}`)
  }
  return left
}

async function adoptOne({ id, version }: Held, { kube, owner, inventoryId, signal }: AdoptOptions): Promise<void> {
  const served = await kube.resolve(id.group === '' ? version : `${id.group}/${version}`, id.kind)
  if (!served) return
  const { example: _, ...kind }: Kind = served
  const ref = refOfId(id)
  try {
    const live = await kube.get<AnyObject>(kind, ref, signal)
    if (!live || live.metadata.labels?.[OWNER_LABEL] !== undefined || live.metadata.annotations?.[OWNING] !== inventoryId) return
    const { resourceVersion } = live.metadata
    await kube.patch(kind, ref, { metadata: { resourceVersion, labels: { [OWNER_LABEL]: owner } } }, { manager: 'berth-agent' })
  } catch (failure) {
    // Gone, closed to us, or written by somebody else at this moment: it is looked at again before anything is done to it.
    if (!isFailure(failure, 'not-found', 'forbidden', 'conflict')) throw failure
  }
}
