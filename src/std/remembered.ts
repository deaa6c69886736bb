import { LRUCache } from 'lru-cache'
import { type Clock, seconds } from './clock.ts'

interface Memory {
  /** So long an answer counts. Milliseconds; ten seconds without it. */
  fresh?: number
  /** So many are kept; the one that was asked for longest ago is forgotten first. */
  most?: number
}

/** Answers that count for a while, also for who asks meanwhile. The key must say everything that the answer depends on. */
export function remembered<Q, A>(
  ask: (question: Q) => Promise<A>,
  keyOf: (question: Q) => string,
  clock: Clock,
  { fresh = seconds(10), most = 2000 }: Memory = {},
): (question: Q) => Promise<A> {
  const answers = new LRUCache<string, { at: number; answer: Promise<A> }>({ max: most })
  return (question) => {
    const key = keyOf(question)
    const known = answers.get(key)
    const now = clock.now()
    // A clock that was set back makes nothing younger.
    if (known && now - known.at < fresh && now >= known.at) return known.answer
    const answer = ask(question)
    const entry = { at: now, answer }
    answers.set(key, entry)
    answer.catch(() => {
      if (answers.get(key) === entry) answers.delete(key)
    })
    return answer
  }
}
