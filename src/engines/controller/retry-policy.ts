import { type Failure, type FailureCode, minutes, seconds, waitOf } from '../../std/index.ts'

/** What happens after a failed reconcile: it is tried again after this many milliseconds, or when something watched changes. */
export interface Retry {
  after: number
}

/** Our own mistakes and what a user must mend are looked at again seldom, in case the world changed unseen. */
const SELDOM = { base: minutes(5), max: minutes(30), factor: 2, jitter: 0.2 }
/** The other side is slow, away or busy. */
const PATIENT = { base: seconds(0.5), max: minutes(2), factor: 2, jitter: 0.5 }
/** Somebody else wrote first: the watch brings the newer version within milliseconds. */
const SOON = { base: 20, max: seconds(5), factor: 2, jitter: 0.5 }

/** The one place that decides about retries. `attempt` counts failures in a row, from 0. */
export function retryAfter(failure: Failure, attempt: number): Retry {
  switch (failure.code) {
    case 'conflict':
    case 'already-exists':
      return { after: waitOf(SOON, attempt) }
    case 'invalid':
    case 'too-large':
      return { after: waitOf(SELDOM, attempt) }
    default:
      return { after: waitAsAsked(failure.retryAfter, waitOf(PATIENT, attempt)) }
  }
}

/** What the other side asks for, within reason: a target is a stranger, and may ask for no wait at all, or for a year. */
const waitAsAsked = (asked: number | undefined, own: number): number =>
  asked === undefined ? own : Math.min(Math.max(asked, own), SELDOM.max)

/** What only a user can mend. */
const AT_ONCE: readonly FailureCode[] = ['invalid', 'forbidden', 'too-large']

/** A failure that the user should hear of at once; a lost race or a passing outage is told only when it stays. */
export const isWorthTelling = (failure: Failure, attempt: number): boolean =>
  AT_ONCE.includes(failure.code) || (failure.code !== 'cancelled' && attempt >= 3)
