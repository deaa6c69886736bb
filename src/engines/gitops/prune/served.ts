import type { Kube } from '../../../adapters/kube/index.ts'
import type { Kind } from '../../../api/index.ts'
import { isFailure } from '../../../std/index.ts'
import { apiVersionFor } from '../../apply/index.ts'
import type { Held } from '../inventory/inventory.ts'

interface Group {
  versions: { version: string }[]
}

/**
 * Where an object that is held stands in the API today: in the version in which it was written, or in another one that is
 * served. `undefined`: the kind is gone, and so is everything of it.
 */
export async function servedKind(kube: Kube, { id: { group, kind }, version }: Held): Promise<Kind | undefined> {
  const asWritten = await kube.resolve(apiVersionFor(group, version), kind)
  if (asWritten || group === '') return asWritten
  for (const other of await versionsOf(kube, group)) {
    const found = other === version ? undefined : await kube.resolve(apiVersionFor(group, other), kind)
    if (found) return found
  }
  return undefined
}

async function versionsOf(kube: Kube, group: string): Promise<string[]> {
  try {
    return (await kube.read<Group>(`/apis/${group}`)).versions.map(({ version }) => version)
  } catch (failure) {
    if (isFailure(failure, 'not-found')) return []
    throw failure
  }
}
