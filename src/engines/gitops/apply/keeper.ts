import type { AnyObject } from '../../../api/index.ts'
import { Failure } from '../../../std/index.ts'
import { keyOfId } from '../../apply/index.ts'
import { PREFIX, wishesOf } from '../objects/annotations.ts'
import { type Desired, OWNER_ANNOTATION, OWNER_LABEL } from '../objects/place.ts'

/** Tells whether another sync, which keeps an object, still wants it; `unknown`: nobody here has heard of that sync. */
export type Standing = (keeper: string, key: string) => 'wants' | 'gives' | 'unknown'

/** By which rules an object is taken that stands there and is not recorded as ours: for syncs that follow another program. */
export interface Taking {
  /** Field managers whose fields become ours with the object. */
  readonly managers: readonly string[]
  /** Also from another sync that wants it. */
  readonly fromOthers: boolean
  /** Why it may not be taken. */
  objection(live: AnyObject): Failure | undefined
}

/** The former owner, when the object may be taken from it; `undefined` when nobody else keeps it. Throws when it may not. */
export function formerKeeper(
  { id, object }: Desired,
  live: AnyObject | undefined,
  owner: string,
  standing: Standing | undefined,
): string | undefined {
  const keeper = live?.metadata.labels?.[OWNER_LABEL]
  if (keeper === undefined || keeper === owner) return undefined
  const word = standing?.(keeper, keyOfId(id)) ?? 'unknown'
  if (word === 'gives' || (word === 'unknown' && wishesOf(object).adopt)) return keeper
  const title = live?.metadata.annotations?.[OWNER_ANNOTATION] ?? 'another sync'
  throw new Failure('already-exists', `is kept by ${title}`, {
    reason: 'KeptByOther',
    remedy:
      word === 'wants'
        ? 'Remove the object from one of the two.'
        : `Remove the object from the other, or annotate the manifest ${PREFIX}adopt: "true" to take it over.`,
  })
}
