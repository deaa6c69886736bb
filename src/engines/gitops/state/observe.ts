import type { Kube } from '../../../adapters/kube/index.ts'
import { type AnyObject, apiVersionOf, type Kind } from '../../../api/index.ts'
import { isFailure } from '../../../std/index.ts'
import { apiVersionFor, byKey, idOf, keyOfId, type ObjectId, refOfId, sayId } from '../../apply/index.ts'
import { type Health, type HealthStatus, worse } from '../../health/index.ts'
import { groupsOf, type Held } from '../inventory/inventory.ts'
import { sentenceAbout } from '../objects/change-set.ts'
import type { SyncContext } from '../objects/context.ts'
import { eachListed } from '../objects/lists.ts'
import { type Desired, OWNER_LABEL } from '../objects/place.ts'
import { type Book, healthIn, isAsDesired, type Judge, type Line, lineOf, type Unreadable } from './object-state.ts'

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

export interface ObservedObject {
  id: ObjectId
  version: string
  health: Health
  /** JSON pointers of the fields that differ from the repository. */
  drift: readonly string[]
}

export interface Observed {
  /** The worst among the objects. */
  health: Health
  objects: ObservedObject[]
  /** When it would be said in another way without anything being heard: some things get worse by waiting alone. */
  until: number
}

const NONE: readonly string[] = []

/** How everything that is held does. What is not `wanted` waits to be pruned. */
export function observedIn(book: Book, held: readonly Held[], wanted: ReadonlyMap<string, Desired>, now: number): Observed {
  let until = Number.POSITIVE_INFINITY
  const objects = held.map(({ key, id, version }) => {
    const line = book.get(key)
    if (line?.word === 'there' && line.later && line.later.at > now) until = Math.min(until, line.later.at)
    const desired = wanted.get(key)
    const drift = line?.word === 'there' && desired && !isAsDesired(line, desired) ? line.drift : NONE
    return { id, version, health: healthIn(line, now, desired), drift }
  })
  const status = objects.reduce<HealthStatus>((worst, { health }) => worse(worst, health.status), 'Healthy')
  const culprit = objects.find(({ health }) => health.status === status && health.message !== undefined)
  return { health: { status, ...(culprit && { message: `${sayId(culprit.id)} ${culprit.health.message}` }) }, objects, until }
}
