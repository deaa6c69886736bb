import type { AnyObject } from '../../../api/index.ts'
import { isFailure } from '../../../std/index.ts'
import { keyOfId, pointerOf } from '../../apply/index.ts'
import { OWNER_LABEL } from '../objects/place.ts'
import { type Case, type Outcome, outcomeAfter, patch, put, read, uidIn, versionKnown } from './case.ts'
import { immutable, immutableFieldsIn } from './immutable.ts'
import { formerKeeper } from './keeper.ts'
import { isForced, isNever, recreate } from './recreate.ts'
import { takingOver } from './take-over.ts'

/** Our values hold, whoever set others. */
export async function own(about: Case): Promise<Outcome> {
  const { item, kind, by } = about
  try {
    const { written, before } = await take(about)
    return outcomeAfter(about, written, before)
  } catch (failure) {
    const fields = immutableFieldsIn(failure)
    if (!fields) throw failure
    if (!isForced(item, by.force)) throw immutable(fields, failure, isNever(item))
    const made = await recreate(item, kind, by)
    if (!made) return { change: 'waiting', why: `is being deleted to be made anew, for ${fields.join(', ')} cannot be changed` }
    by.wrote(item, made)
    return { change: 'configured', why: `made anew, for ${fields.join(', ')} cannot be changed`, ...uidIn(made) }
  }
}

/** Of two that write at the same moment one is asked to try again; more often somebody means it. */
const TRIES = 3

/**
 * What is known to be ours is written with force. Everything else first without: a conflict is how another owner shows
 * itself, at no cost in the ordinary case.
 */
async function take(about: Case): Promise<{ written: AnyObject; before: AnyObject | undefined }> {
  const { item, content, seen, by } = about
  if (isOurs(about)) return { written: await put(about, content, { force: true, version: versionKnown(about) }), before: seen }
  for (let tries = 1; ; tries++) {
    try {
      const written = tries === 1 ? await put(about, content) : undefined
      const before = written ?? (await read(about))
      const former = written ? undefined : formerKeeper(item, before, by.owner, by.standing)
      const isNew = by.uidOf(keyOfId(item.id)) !== before?.metadata.uid
      const from = { former, byHand: true, managers: by.taking?.managers }
      const steps = before && (isNew || former !== undefined) ? takingOver(before, by.owner, from) : undefined
      if (steps) await patch(about, steps)
      return written && !steps ? { written, before: seen } : { written: await put(about, content, { force: true }), before }
    } catch (failure) {
      if (!isFailure(failure, 'conflict') || tries === TRIES) throw failure
    }
  }
}

const OWNER_POINTER = pointerOf(['metadata', 'labels', OWNER_LABEL])

function isOurs({ item: { id }, seen, by }: Case): boolean {
  const uid = by.uidOf(keyOfId(id))
  if (seen) return seen.metadata.labels?.[OWNER_LABEL] === by.owner && seen.metadata.uid === uid
  const line = by.lineOf(keyOfId(id))
  return line?.word === 'there' && line.uid === uid && !line.drift.includes(OWNER_POINTER)
}
