import { type Clock, seconds } from '../std/index.ts'

const FRESH = seconds(10)
const MOST = 2000

/** An answer counts for ten seconds. The key must say everything that the answer depends on. */
export function remembered<Q, A>(
  ask: (question: Q) => Promise<A>,
  keyOf: (question: Q) => string,
  clock: Clock,
): (question: Q) => Promise<A> {
  const answers = new Map<string, { at: number; answer: Promise<A> }>()
  return (question) => {
    const key = keyOf(question)
    const known = answers.get(key)
    if (known && clock.now() - known.at < FRESH) return known.answer
    const answer = ask(question)
    const entry = { at: clock.now(), answer }
    answers.delete(key)
    answers.set(key, entry)
    answer.catch(() => {
      if (answers.get(key) === entry) answers.delete(key)
    })
    const [oldest] = answers.keys()
    if (answers.size > MOST && oldest !== undefined) answers.delete(oldest)
    return answer
  }
}
