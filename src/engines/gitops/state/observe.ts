import type { Kube } from '../../../adapters/kube/index.ts'
import { type AnyObject, apiVersionOf, type Kind } from '../../../api/index.ts'
import { isFailure } from '../../../std/index.ts'
import { apiVersionFor, byKey, idOf, keyOfId, type ObjectId, refOfId } from '../../apply/index.ts'
import { groupsOf, type Held } from '../inventory/inventory.ts'
import type { SyncContext } from '../objects/context.ts'
import { eachListed } from '../objects/each.ts'
import { type Desired, OWNER_LABEL } from '../objects/place.ts'
import { sentenceAbout } from '../objects/sentence.ts'
import { type Book, type Judge, type Line, lineOf, type Unreadable } from './book.ts'

export interface Observing extends Pick<SyncContext, 'kube' | 'owner'> {
  judge: Judge
  desired: readonly Desired[]
  /** What was known before: the server's own way of writing our values, for one. */
  before?: Book | undefined
}

/** Reads what is held: one list per kind and namespace, by our label; object by object where listing is not allowed. */
export async function observe(
  held: readonly Held[],
  { kube, owner, judge, desired, before }: Observing,
  signal?: AbortSignal,
): Promise<Book> {
  const book = new Map<string, Line>()
  const wanted = byKey(desired)
  const write = (key: string, seen: AnyObject) => book.set(key, lineOf(seen, wanted.get(key), judge, before?.get(key)))
  for (const group of groupsOf(held)) {
    const [first] = group
    const kind = first && (await kube.resolve(apiVersionFor(first.id.group, first.version), first.id.kind))
    const isListed = kind && (await listGroup(kube, kind, group, { owner, signal, write }))
    for (const { id, key } of group) {
      if (book.has(key)) continue
      const seen = isListed || !kind ? undefined : await readOne(kube, kind, id, owner, signal)
      if (isLine(seen)) book.set(key, seen)
      else if (seen) write(key, seen)
      else book.set(key, { word: 'absent', version: '' })
    }
  }
  return book
}

const isLine = (seen: AnyObject | Unreadable | undefined): seen is Unreadable => seen !== undefined && 'word' in seen

interface Noting {
  owner: string
  signal: AbortSignal | undefined
  write: (key: string, seen: AnyObject) => void
}

/** `false` where it does not pay or is not allowed. */
async function listGroup(kube: Kube, kind: Kind, group: Held[], { owner, signal, write }: Noting): Promise<boolean> {
  if (group.length < 2) return false
  const namespace = group[0]?.id.namespace
  const query = { ...(namespace && { namespace }), labels: `${OWNER_LABEL}=${owner}` }
  const held = new Set(group.map(({ key }) => key))
  try {
    await eachListed(kube, { kind: kindOfAny(kind), query, signal }, (object) => {
      const key = keyOfId(idOf(object))
      if (held.has(key)) write(key, object)
    })
    return true
  } catch (failure) {
    if (isFailure(failure, 'forbidden')) return false
    throw failure
  }
}

async function readOne(
  kube: Kube,
  kind: Kind,
  id: ObjectId,
  owner: string,
  signal?: AbortSignal,
): Promise<AnyObject | Unreadable | undefined> {
  try {
    const object = await kube.get(kindOfAny(kind), refOfId(id), signal)
    // A list would not show it either: without our label it has drifted.
    if (object?.metadata.labels?.[OWNER_LABEL] !== owner) return undefined
    return { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind }
  } catch (failure) {
    if (isFailure(failure, 'forbidden')) return { word: 'unreadable', why: sentenceAbout(id, failure) }
    throw failure
  }
}

/** The same place in the API, read as objects of whose inside nothing is known. */
export const kindOfAny = ({ group, version, kind, plural, namespaced }: Kind): Kind<AnyObject> => ({
  group,
  version,
  kind,
  plural,
  namespaced,
})
