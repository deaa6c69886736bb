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
  const answers = new Map<string, { at: number; answer: Promise<A> }>()
  return (question) => {
    const key = keyOf(question)
    const known = answers.get(key)
    const now = clock.now()
    // A clock that was set back makes nothing younger.
    if (known && now - known.at < fresh && now >= known.at) return known.answer
    const answer = ask(question)
    const entry = { at: now, answer }
    answers.delete(key)
    answers.set(key, entry)
    answer.catch(() => {
      if (answers.get(key) === entry) answers.delete(key)
    })
    const [oldest] = answers.keys()
    if (answers.size > most && oldest !== undefined) answers.delete(oldest)
    return answer
  }
}

/** So many keys; the one that was added longest ago is forgotten first. */
export function rememberSome(most: number) {
  const keys = new Set<string>()
  return {
    has: (key: string) => keys.has(key),
    add(key: string) {
      keys.delete(key)
      keys.add(key)
      const [oldest] = keys
      if (keys.size > most && oldest !== undefined) keys.delete(oldest)
    },
    delete: (key: string) => void keys.delete(key),
  }
}
