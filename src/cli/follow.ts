import { type Kube, keepFed, type Listing, type Sink } from '../adapters/kube/index.ts'
import { type Kind, type KubeObject, keyOf, type Ref } from '../api/index.ts'
import { Failure, isFailure, silentLog, systemClock } from '../std/index.ts'

interface FollowOptions<T extends KubeObject> {
  kube: Kube
  kind: Kind<T>
  ref: Ref
  /** Milliseconds; then it is a `timeout`. */
  within: number
  /** The awaited state, as the message of a timeout names it: `Ready`. */
  what: string
  /** Says how it stands, for the message of a timeout. */
  where?: () => string
  /** Says what to do then; nothing if all that can be said is how to look for the operator. */
  advice?: () => string | undefined
  signal: AbortSignal
}

/** Watches one object until `decide` has an answer; `undefined` stands for an object that is gone. A throw of it ends the watch. */
export async function follow<T extends KubeObject, Answer>(
  { kube, kind, ref, within, what, where, advice, signal }: FollowOptions<T>,
  decide: (object: T | undefined) => Answer | undefined,
): Promise<Answer> {
  const ending = new AbortController()
  let feed: Promise<void> | undefined
  let cancel: () => void = () => undefined
  const title = `${kind.kind} ${keyOf(ref)}`
  try {
    return await new Promise<Answer>((resolve, reject) => {
      const see = (object: T | undefined) => {
        try {
          const answer = decide(object)
          if (answer !== undefined) resolve(answer)
        } catch (thrown) {
          reject(Failure.from(thrown))
        }
      }
      const stopped = () => reject(new Failure('cancelled', `${title} was waited for`))
      if (signal.aborted) return stopped()
      signal.addEventListener('abort', stopped, { signal: ending.signal })
      cancel = systemClock.after(within, () => {
        const last = where?.()
        const message = `${title}: not ${what} within ${within / 1000} s${last ? `; at the end: ${last}` : ''}`
        const remedy = advice?.() ?? 'Wait longer with --timeout, or see with `berth doctor` whether the operator runs.'
        reject(new Failure('timeout', message, { remedy }))
      })
      const scope = { namespace: ref.namespace, fields: `metadata.name=${ref.name}` }
      const store: Sink<T> = { put: see, remove: () => see(undefined), list: () => listingOf(see), saw: () => undefined }
      const failed = (failure: Failure) => {
        if (isFailure(failure, 'forbidden', 'unauthorized', 'not-found')) reject(failure)
      }
      feed = keepFed(
        { kube, kind, scope, store, clock: systemClock, log: silentLog, listed: () => undefined, failed },
        ending.signal,
      )
    })
  } finally {
    cancel()
    ending.abort()
    await feed
  }
}

/** Collects the list of one object. */
function listingOf<T extends KubeObject>(see: (object: T | undefined) => void): Listing<T> {
  let found: T | undefined
  return {
    page([object]) {
      found ??= object
    },
    end: () => see(found),
  }
}
