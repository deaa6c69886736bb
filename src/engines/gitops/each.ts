import type { Kube, ListQuery } from '../../adapters/kube/index.ts'
import type { AnyObject, Kind } from '../../api/index.ts'
import { isFailure } from '../../std/index.ts'

/** Does `work` for every item, so many at once; the answers stand in the order of the items. */
export async function eachOf<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  return results
}

/**
 * Shows every object of a list to `see`, a page at a time: of a large list little is held at once. Where the rest is too old to be
 * had it begins anew, and `see` is shown some of them again.
 */
export async function eachListed(
  kube: Kube,
  { kind, query, signal }: { kind: Kind<AnyObject>; query: ListQuery; signal: AbortSignal | undefined },
  see: (object: AnyObject) => void,
): Promise<void> {
  const show = async () => {
    for await (const page of kube.pages(kind, query, signal)) for (const object of page) see(object)
  }
  try {
    await show()
  } catch (failure) {
    if (!isFailure(failure, 'expired')) throw failure
    await show()
  }
}
