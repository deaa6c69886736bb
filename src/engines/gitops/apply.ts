import type { Kube } from '../../adapters/kube/index.ts'
import { type AnyObject, type Kind, refOf } from '../../api/index.ts'
import { type Clock, Failure, isFailure, isRecord, pause, seconds } from '../../std/index.ts'
import type { Entry } from './change-set.ts'
import { eachOf } from './each.ts'
import type { Held } from './inventory.ts'
import { keyOfId, type ObjectId } from './object-id.ts'
import { kindOfAny } from './observe.ts'
import { inOrder } from './order.ts'
import { type Desired, OWNER_ANNOTATION, OWNER_LABEL } from './place.ts'
import { isUnreadable, type Live } from './plan.ts'
import { sentenceAbout } from './sentence.ts'

/** The field manager of everything that comes from Git. */
export const FIELD_MANAGER = 'berth-gitops'

const AT_ONCE = 6
/** A CRD is served a moment after it was accepted. */
const CRD_PATIENCE = seconds(10)
const CRD_PAUSE = seconds(0.2)

export interface Applying {
  kube: Kube
  clock: Clock
  owner: string
  /** What is held of these objects already. */
  held: readonly Held[]
  /** Before the first write, where it was read: an apply that changed nothing is told by it. */
  live?: Live | undefined
  signal?: AbortSignal | undefined
}

/** Server-side apply, kind by kind in order; one object's failure is its own entry and stops no other. */
export async function apply(desired: readonly Desired[], applying: Applying): Promise<Entry[]> {
  const entries: Entry[] = []
  const declared = new Set(desired.flatMap(kindDeclaredBy))
  for (const group of inOrder(desired, ({ id }) => id.kind)) {
    applying.signal?.throwIfAborted()
    const work = (item: Desired) => (declared.has(kindKey(item.id)) ? applyPatiently(item, applying) : applyOne(item, applying))
    entries.push(...(await eachOf(group, AT_ONCE, work)))
  }
  return entries
}

async function applyOne(item: Desired, applying: Applying): Promise<Entry> {
  const { id, object, source } = item
  try {
    const kind = await applying.kube.resolve(object.apiVersion, id.kind)
    if (!kind) throw new Failure('not-found', `the destination serves no kind ${id.kind} in ${object.apiVersion}`)
    const written = await write(kindOfAny(kind), object, applying)
    const key = keyOfId(id)
    const { uid } = written.metadata
    const seen = applying.live?.get(key)
    const isKnown = applying.held.some((held) => held.uid === uid && keyOfId(held.id) === key)
    const change = changeOf(written, isKnown, isUnreadable(seen) ? undefined : seen)
    return { id, change, source, ...(uid !== undefined && { uid }) }
  } catch (thrown) {
    const failure = Failure.from(thrown)
    return { id, change: 'failed', why: sentenceAbout(id, failure), failure, source }
  }
}

/** A kind that a CRD of the same commit declares is served a moment after the CRD was accepted. */
async function applyPatiently(item: Desired, applying: Applying): Promise<Entry> {
  const { clock, signal } = applying
  const deadline = clock.now() + CRD_PATIENCE
  while (true) {
    const entry = await applyOne(item, applying)
    if (!isFailure(entry.failure, 'not-found') || clock.now() >= deadline || signal?.aborted) return entry
    await pause(clock, CRD_PAUSE, signal)
  }
}

const kindKey = ({ group, kind }: ObjectId): string => `${group}/${kind}`

function kindDeclaredBy({ object: { kind, spec } }: Desired): string[] {
  if (kind !== 'CustomResourceDefinition' || !isRecord(spec) || !isRecord(spec.names)) return []
  return [`${String(spec.group)}/${String(spec.names.kind)}`]
}

/**
 * First without force: a conflict is how another owner shows itself, at no cost in the ordinary case. Who merely edited
 * the object is overruled; another sync that keeps it is not.
 */
async function write(kind: Kind<AnyObject>, object: AnyObject, { kube, owner }: Applying): Promise<AnyObject> {
  const manager = managerOf(owner)
  try {
    return await kube.apply(kind, object, { manager })
  } catch (failure) {
    if (!isFailure(failure, 'conflict')) throw failure
    const live = await kube.get(kind, refOf(object))
    const keeper = live?.metadata.labels?.[OWNER_LABEL]
    if (keeper !== undefined && keeper !== owner) throw keptByOther(live)
    return await kube.apply(kind, object, { manager, force: true })
  }
}

/** One manager per sync: with one for all, the server could not tell two syncs that want the same object apart. */
export const managerOf = (owner: string): string => `${FIELD_MANAGER}-${owner}`.slice(0, 128)

const keptByOther = (live: AnyObject | undefined): Failure =>
  new Failure('already-exists', `is kept by ${live?.metadata.annotations?.[OWNER_ANNOTATION] ?? 'another sync'}`, {
    reason: 'KeptByOther',
    remedy: 'Remove the object from one of the two.',
  })

function changeOf(written: AnyObject, isKnown: boolean, before: AnyObject | undefined): 'created' | 'configured' | 'unchanged' {
  if (before) return before.metadata.resourceVersion === written.metadata.resourceVersion ? 'unchanged' : 'configured'
  return !isKnown && isFresh(written) ? 'created' : 'configured'
}

/** Only its creation has happened to it: one writer, and that at the moment of creation. */
function isFresh({ metadata }: AnyObject): boolean {
  const writers = 'managedFields' in metadata && Array.isArray(metadata.managedFields) ? metadata.managedFields : []
  const [only] = writers
  return writers.length === 1 && only?.operation === 'Apply' && only?.time === metadata.creationTimestamp
}
