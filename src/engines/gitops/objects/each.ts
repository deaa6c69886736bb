import { type Kube, type ListQuery, orBegunAnew } from '../../../adapters/kube/index.ts'
import type { AnyObject, Kind } from '../../../api/index.ts'

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

/** Shows every object of a list to `see`, a page at a time: of a large list little is held at once. Some may be shown again. */
export const eachListed = (
  kube: Kube,
  { kind, query, signal }: { kind: Kind<AnyObject>; query: ListQuery; signal: AbortSignal | undefined },
  see: (object: AnyObject) => void,
): Promise<void> =>
  orBegunAnew(async () => {
    for await (const page of kube.pages(kind, query, signal)) for (const object of page) see(object)
  })
