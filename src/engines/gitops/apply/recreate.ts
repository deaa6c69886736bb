import { randomBytes } from 'node:crypto'
import { causesOf } from '../../../adapters/kube/index.ts'
import { type AnyObject, isDeleting, type Kind, refOf } from '../../../api/index.ts'
import { Failure, isFailure, isRecord, pause, seconds } from '../../../std/index.ts'
import { PREFIX, wishesOf } from '../objects/annotations.ts'
import { bare } from '../objects/change-set.ts'
import { type Desired, managerOf } from '../objects/place.ts'
import { HOLDS_DATA, HOLDS_OTHERS } from '../objects/precious.ts'
import { kindKey } from '../objects/topological-order.ts'
import { type ObjectWrite, type ObjectWriter, put, read } from './case.ts'
import { formerOwner } from './take-over.ts'

/** An object that goes slowly is left to the next reconcile; most are gone at once. */
const GONE_WITHIN = seconds(2)

/**
 * Whether a proven immutable field is answered by making the object anew. Where it holds data, a setting for the whole sync is not enough:
 * the object itself must say so.
 */
export function isForced({ id, object }: Desired, force: boolean | undefined): boolean {
  if (isNever({ id })) return false
  return wishesOf(object).force || (force === true && !HOLDS_DATA.includes(kindKey(id)))
}

/** Whether no wish of its author lets it be made anew. */
const isNever = ({ id }: Pick<Desired, 'id'>): boolean => HOLDS_OTHERS.includes(kindKey(id))

/**
 * Deletes the object and makes it anew, once a dry run has shown that the server takes the new content. `undefined`: it is
 * being deleted and takes its time.
 */
export async function recreate(about: Pick<ObjectWrite, 'item' | 'kind' | 'writer'>): Promise<AnyObject | undefined> {
  const { item, kind, writer } = about
  const { clock, owner, signal } = writer
  const live = await read(about)
  formerOwner(item, live, owner, writer.standing)
  await writer.send(item, () => tryOut(item.object, live, kind, writer))
  await remove(about, live)
  const deadline = clock.now() + GONE_WITHIN
  for (let wait = 20; ; wait *= 1.5) {
    const left = await read(about)
    if (!left) return put(about, item.object)
    if (left.metadata.uid !== live?.metadata.uid) throw new Failure('conflict', 'was made anew by somebody else meanwhile')
    if (clock.now() >= deadline || signal?.aborted) return undefined
    await pause(clock, wait, signal)
  }
}

/** Controllers write the status of what they keep at any moment. */
const TRIES = 5

/** Bound to what was read: an object that somebody else made or took since then is not this one. */
async function remove(about: Pick<ObjectWrite, 'item' | 'kind' | 'writer'>, live: AnyObject | undefined): Promise<void> {
  const { item, kind, writer } = about
  let found = live
  for (let tries = 1; found && !isDeleting(found); tries++) {
    const { uid, resourceVersion } = found.metadata
    try {
      await writer.send(item, () => writer.kube.delete(kind, refOf(item.object), { uid, resourceVersion }))
      return
    } catch (failure) {
      if (!isFailure(failure, 'conflict') || tries === TRIES) throw failure
    }
    found = await read(about)
    formerOwner(item, found, writer.owner, writer.standing)
  }
}

/** Creates it under a name of its own, in a dry run: everything that may be wrong with it is wrong there too. */
async function tryOut(
  object: AnyObject,
  live: AnyObject | undefined,
  kind: Kind<AnyObject>,
  { kube, owner }: ObjectWriter,
): Promise<void> {
  const name = `berth-dry-run-${randomBytes(5).toString('hex')}`
  const trial = { ...withoutTaken(object, live), metadata: { ...object.metadata, name } }
  try {
    await kube.create(kind, trial, { manager: managerOf(owner), dryRun: true })
  } catch (thrown) {
    const failure = Failure.from(thrown)
    throw new Failure(failure.code, `is not made anew, for the new one would be refused: ${bare(failure)}`, {
      reason: failure.reason ?? 'DryRunRefused',
      cause: failure.cause,
      ...(failure.retryAfter !== undefined && { retryAfter: failure.retryAfter }),
    })
  }
}

/** Addresses and ports that the live Service holds are taken until it is gone. */
function withoutTaken(object: AnyObject, live: AnyObject | undefined): AnyObject {
  const { spec } = object
  if (object.kind !== 'Service' || object.apiVersion !== 'v1' || !isRecord(spec) || !live) return object
  const { clusterIP, clusterIPs, healthCheckNodePort: _, ports, ...rest } = spec
  const isHeadless = clusterIP === 'None'
  return {
    ...object,
    spec: {
      ...rest,
      ...(isHeadless && { clusterIP }),
      ...(Array.isArray(ports) && { ports: ports.map(withoutNodePort) }),
    },
  }
}

function withoutNodePort(port: unknown): unknown {
  if (!isRecord(port)) return port
  const { nodePort: _, ...rest } = port
  return rest
}

const IMMUTABLE = 'ImmutableField'

/** The words of the API server's validations, and of rules in CRDs. */
const WORDS =
  /\bimmutable\b|may not (be )?change|cannot (be )?changed?\b|updates to (?:\S+ ){1,3}(are |for fields other )|forbidden after creation/i
/** Under these reasons validations say so; anything else is about the value itself. */
const REASONS = ['FieldValueInvalid', 'FieldValueForbidden']

/**
 * The fields that the server will not change, if that is what it said. Only a 422 with such causes proves it: taking any
 * refusal for this would delete objects over a typing error.
 */
export function immutableFieldsIn(thrown: unknown): string[] | undefined {
  if (!isFailure(thrown, 'invalid') || thrown.reason !== 'Invalid') return undefined
  const proofs = causesOf(thrown).filter(({ reason, message }) => REASONS.includes(reason) && WORDS.test(ruleIn(message)))
  return proofs.length > 0 ? [...new Set(proofs.map(({ field }) => field))] : undefined
}

/** `Invalid value: {…}: field is immutable`: the value comes from users and proves nothing. */
const ruleIn = (message: string): string => message.replace(/^Invalid value: ("(\\.|[^"\\])*"|\{.*\}|\[.*\]|[^:]*): /s, '')

export const immutable = (fields: readonly string[], cause: unknown, item: Desired): Failure =>
  new Failure('invalid', `${fields.join(', ')} cannot be changed once the object exists (immutable)`, {
    reason: IMMUTABLE,
    remedy: isNever(item)
      ? 'Set the field back. It is never deleted to be made anew, for everything that belongs to it would go with it.'
      : `Annotate the manifest ${PREFIX}force: "true" to have the object deleted and made anew, or set the field back.`,
    cause: cause instanceof Failure ? cause.cause : cause,
  })
