import type { Entry } from './change-set.ts'
import { type Difference, differencesOf } from './diff.ts'
import type { IgnoreRule } from './ignore.ts'
import { type Held, type InventoryStore, loadFor } from './inventory.ts'
import { keyOfId } from './object-id.ts'
import type { Render } from './render.ts'
import { type Wanting, wantedOf } from './wanted.ts'

export interface PreviewRequest extends Wanting {
  inventory: InventoryStore
  ignore?: readonly IgnoreRule[] | undefined
}

/** What a sync of this commit would do. */
export interface Preview {
  readonly commitId: string
  readonly differences: readonly Difference[]
  /** What may not be applied, with the reason. */
  readonly refused: readonly Entry[]
  /** What left the repository. Guards may hold it back. */
  readonly prune: readonly Held[]
}

/** Looks at everything and writes nothing: two requests for each object, as the tenant. */
export async function preview(request: PreviewRequest, render: Render, signal?: AbortSignal): Promise<Preview> {
  const { snapshot, destination, owner, ignore } = request
  const { kube } = destination
  const { desired, refused, keys } = await wantedOf(request, render, {}, signal)
  const { inventory } = await loadFor(kube.server, request.inventory)
  const differences = await differencesOf(desired, { kube, owner: owner.id, ignore, signal })
  return { commitId: snapshot.commitId, differences, refused, prune: inventory.held.filter(({ id }) => !keys.has(keyOfId(id))) }
}
