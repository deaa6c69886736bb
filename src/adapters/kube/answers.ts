import { Failure } from '../../std/index.ts'

/**
 * The memory for what strangers' servers answer, all of them together. Small answers share one part of it. A large one needs a
 * place, and one tenant gets few of them; until there is one, the rest stays unread, and the other side waits.
 */
export interface Answers {
  /** For one answer on behalf of that tenant, of so many bytes at most; 8 MiB without it. */
  open(tenant: string, most?: number): Share
}

/** What one answer, or one line of it, takes while it is read. */
export interface Share {
  /** So many bytes more have come. Tells whether it has a place; throws `too-large`, or why the signal aborts. */
  grow(bytes: number, signal?: AbortSignal): Promise<boolean>
  /** Nothing of it is held any more. */
  clear(): void
}

/** The reason of a failure where a shorter answer may be asked for. */
export const ANSWER_TOO_LARGE = 'AnswerTooLarge'

/** Of every object several fit; of a list whose objects are large, shorter pages are asked for. */
const MOST = 8 * 2 ** 20
/** So much of an answer comes without a place, bytes. */
const SMALL = 2 ** 17
const ALL_SMALL = 32 * 2 ** 20
const PLACES = 6
const PLACES_OF_ONE = 2

export function createAnswers(): Answers {
  const places = createPlaces()
  let small = 0

  return {
    open(tenant, most = MOST) {
      let size = 0
      let counted = 0
      let hasPlace = false
      const uncount = () => {
        small -= counted
        counted = 0
      }
      return {
        async grow(bytes, signal) {
          size += bytes
          if (size > most) throw new Failure('too-large', `the answer has more than ${most} bytes`, { reason: ANSWER_TOO_LARGE })
          if (hasPlace) return true
          if (size <= SMALL && small + bytes <= ALL_SMALL) {
            small += bytes
            counted += bytes
            return false
          }
          await places.take(tenant, signal)
          hasPlace = true
          uncount()
          return true
        },
        clear() {
          size = 0
          uncount()
          if (hasPlace) places.giveBack(tenant)
          hasPlace = false
        },
      }
    },
  }
}

interface Waiter {
  tenant: string
  go: () => void
}

function createPlaces() {
  const waiting = new Set<Waiter>()
  const taken = new Map<string, number>()
  let free = PLACES

  const tryToTake = (tenant: string): boolean => {
    const own = taken.get(tenant) ?? 0
    if (free === 0 || own === PLACES_OF_ONE) return false
    free--
    taken.set(tenant, own + 1)
    return true
  }
  return {
    async take(tenant: string, signal: AbortSignal | undefined): Promise<void> {
      if (tryToTake(tenant)) return
      signal?.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const waiter = { tenant, go: resolve }
      const leave = () => {
        waiting.delete(waiter)
        reject(signal?.reason)
      }
      waiting.add(waiter)
      signal?.addEventListener('abort', leave, { once: true })
      try {
        await promise
      } finally {
        signal?.removeEventListener('abort', leave)
      }
    },
    giveBack(tenant: string) {
      const rest = (taken.get(tenant) ?? 1) - 1
      if (rest === 0) taken.delete(tenant)
      else taken.set(tenant, rest)
      free++
      for (const waiter of waiting) {
        if (!tryToTake(waiter.tenant)) continue
        waiting.delete(waiter)
        waiter.go()
        break
      }
    },
  }
}
