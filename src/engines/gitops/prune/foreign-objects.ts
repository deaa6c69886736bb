import { isOrdinary, listableKinds, unlessGone } from '../../../adapters/kube/index.ts'
import type { AnyObject, Kind } from '../../../api/index.ts'
import { Failure, isRecord } from '../../../std/index.ts'
import { idOf, keyOfId, type ObjectId, sayIds } from '../../apply/index.ts'
import { eachListed, kindOfAny, type SyncContext } from '../objects/context.ts'
import { OWNER_LABEL } from '../objects/place.ts'

/** An object that the tenant may not see counts as somebody else's. */
export interface Searching extends SyncContext {
  /** Keys of everything that this sync holds. */
  holds: ReadonlySet<string>
}

/** So many are enough to say that somebody is there. */
const ENOUGH = 3
/** So many of one kind are counted. */
const MOST = 1000

/** Names what in a namespace is not ours; `undefined` when it is ours alone. */
export function foreignObjectsIn(namespace: string, searching: Searching): Promise<string | undefined> {
  return unlessBlind(async () => {
    const found: ObjectId[] = []
    for (const kind of await listableKinds(searching.kube, searching.signal)) {
      found.push(...(await foreignObjectsOf(kind, namespace, searching)))
      if (found.length >= ENOUGH) break
    }
    return found
  }, searching)
}

/** Custom resources of a definition that are not ours, in words. */
export function foreignObjectsUnder(definition: AnyObject, searching: Searching): Promise<string | undefined> {
  return unlessBlind(async () => {
    const kind = kindDefinedBy(definition)
    return kind ? foreignObjectsOf(kind, undefined, searching) : []
  }, searching)
}

/** A tenant that may not look must not conclude that there is nothing. */
async function unlessBlind(search: () => Promise<ObjectId[]>, { signal }: Searching): Promise<string | undefined> {
  try {
    const found = await search()
    return found.length === 0 ? undefined : sayIds(found, ENOUGH)
  } catch (thrown) {
    signal?.throwIfAborted()
    return `nobody knows what, because it may not be looked at (${Failure.from(thrown).message})`
  }
}

async function foreignObjectsOf(kind: Kind, namespace: string | undefined, searching: Searching): Promise<ObjectId[]> {
  const { kube, owner, holds, signal } = searching
  const isOurs = (object: AnyObject) => object.metadata.labels?.[OWNER_LABEL] === owner && holds.has(keyOfId(idOf(object)))
  const found = new Map<string, ObjectId>()
  await unlessGone(() =>
    eachListed(kube, { kind: kindOfAny(kind), query: { namespace, metadataOnly: true }, signal }, (object) => {
      if (found.size < MOST && !isOrdinary(object) && !isOurs(object)) found.set(keyOfId(idOf(object)), idOf(object))
    }),
  )
  return [...found.values()]
}

function kindDefinedBy({ spec }: AnyObject): Kind | undefined {
  if (!isRecord(spec) || !isRecord(spec.names) || !Array.isArray(spec.versions)) return undefined
  const served = spec.versions.find((version) => isRecord(version) && version.served === true)
  if (!isRecord(served)) return undefined
  const { kind, plural } = spec.names
  return {
    group: String(spec.group),
    version: String(served.name),
    kind: String(kind),
    plural: String(plural),
    namespaced: spec.scope !== 'Cluster',
  }
}
