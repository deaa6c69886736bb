import { type Clock, createBuckets, createTurnstile, Failure, pause, type Rate, systemClock } from '../../std/index.ts'
import { hasMoreMarks } from './marks.ts'

export type Answers = ReturnType<typeof createAnswers>

/** The memory and time that one answer, or one line of it, takes while it is read. */
export interface AnswerShare {
  /** Resolves when its tenant may have more parsed, or when the signal aborts. */
  ready(signal?: AbortSignal): Promise<void>
  /** Throws `too-large` where it would take too long to parse that text. */
  judge(text: string): void
  /** So many milliseconds were spent on it. */
  spend(milliseconds: number): void
  /** So many bytes more have come. Tells whether it has a place; throws `too-large`, or why the signal aborts. */
  grow(bytes: number, signal?: AbortSignal): Promise<boolean>
  /** Nothing of it is held any more. */
  clear(): void
}

/** The reason of a failure where a shorter answer may be asked for. */
export const ANSWER_TOO_LARGE = 'AnswerTooLarge'

/** Of every object several fit; of a list whose objects are large, shorter pages are asked for. */
const MOST = 8 * 2 ** 20
/** Of the largest objects there are ten in a page then; of those that are usual, five hundred. */
const MOST_OF_OWN = 16 * 2 ** 20
/** So much of an answer comes without a place, bytes. */
const SMALL = 2 ** 17
const ALL_SMALL = 32 * 2 ** 20
const PLACES = 6
const PLACES_OF_ONE = 2

/**
 * Objects, lists and what is in them, of one answer. Deployments have one in 13 bytes, and a page of 500 with two containers each has
 * 280,000; a list that has more is asked for in shorter pages. To parse so many takes half a second at worst; of 8 MiB of `{},`, which
 * have ten times as many, more than one.
 */
const MOST_MARKS = 2 ** 19
/**
 * Milliseconds in which answers to one tenant are parsed: one twentieth of the time. Ten thousand Deployments with what is answered
 * and told when they are applied take 1.2 s.
 */
const PARSING: Rate = { burst: 5000, perSecond: 50 }
/** To decrypt, join and decode a byte takes so many milliseconds before. */
const READING = 1e-5

/** For an answer of the own cluster, which is trusted, but in which tenants write objects of any size: lists of them come in short pages. */
export function ownShare(most = MOST_OF_OWN): AnswerShare {
  let size = 0
  return {
    ready: async () => undefined,
    judge: () => undefined,
    spend: () => undefined,
    async grow(bytes) {
      size += bytes
      if (size > most) throw tooLarge(most)
      return true
    },
    clear: () => undefined,
  }
}

/**
 * The memory for the answers of strangers' servers, all of them together. Small answers share one part of it. A large one needs a
 * place, and one tenant gets few of them; until there is one, the rest stays unread, and the other side waits. The time in which
 * they are parsed is bounded for each tenant as well: nothing else is done meanwhile.
 */
export function createAnswers(clock: Clock = systemClock) {
  const parsing = createBuckets(PARSING, clock)
  const places = createTurnstile({ width: PLACES, each: PLACES_OF_ONE })
  let small = 0

  return {
    /** For one answer on behalf of that tenant, of so many bytes at most. */
    open(tenant: string, most = MOST): AnswerShare {
      let size = 0
      let counted = 0
      let leave: (() => void) | undefined
      const uncount = () => {
        small -= counted
        counted = 0
      }
      return {
        async ready(signal) {
          for (let wait = parsing.wait(tenant); wait > 0 && !signal?.aborted; wait = parsing.wait(tenant))
            await pause(clock, wait, signal)
        },
        judge(text) {
          if (hasMoreMarks(text, MOST_MARKS)) throw tooLarge(MOST_MARKS, 'objects, lists and elements')
        },
        spend: (milliseconds) => parsing.spend(tenant, milliseconds),
        async grow(bytes, signal) {
          size += bytes
          parsing.spend(tenant, bytes * READING)
          if (size > most) throw tooLarge(most)
          if (leave) return true
          if (size <= SMALL && small + bytes <= ALL_SMALL) {
            small += bytes
            counted += bytes
            return false
          }
          leave = await places.enter(tenant, { signal }).catch((thrown: unknown) => {
            signal?.throwIfAborted()
            throw thrown
          })
          uncount()
          return true
        },
        clear() {
          size = 0
          uncount()
          leave?.()
          leave = undefined
        },
      }
    },
  }
}

const tooLarge = (most: number, what = 'bytes'): Failure =>
  new Failure('too-large', `the answer has more than ${most} ${what}`, { reason: ANSWER_TOO_LARGE })
