import { type Kube, type ListQuery, orBegunAnew } from '../../../adapters/kube/index.ts'
import type { AnyObject, Kind } from '../../../api/index.ts'
import type { Clock } from '../../../std/index.ts'

/** The same from the request for a sync down to each write and each look. */
export interface SyncContext {
  /** The target, as the tenant. */
  kube: Kube
  /** `Owner.id` of the sync. */
  owner: string
  clock: Clock
  signal?: AbortSignal | undefined
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

/** The same place in the API, read as objects of whose inside nothing is known. */
export const kindOfAny = ({ group, version, kind, plural, namespaced }: Kind): Kind<AnyObject> => ({
  group,
  version,
  kind,
  plural,
  namespaced,
})
