import { type Answer, isSame, type Question } from './finding.ts'

/** What is being asked, or was answered and is not in the status yet. */
export interface Inquiry {
  question: Question
  answer?: Answer
  /** Somebody waits for the answer, so nobody needs to be woken for it. */
  isAwaited: boolean
  done: PromiseWithResolvers<void>
}

/** One a target, by its key. An inquiry into an older question is forgotten when a newer one is opened. */
export function createInquiries() {
  const all = new Map<string, Inquiry>()
  return {
    under(key: string, question: Question): Inquiry | undefined {
      const known = all.get(key)
      return known && isSame(known.question, question) ? known : undefined
    },
    open(key: string, question: Question): Inquiry {
      const inquiry = { question, isAwaited: false, done: Promise.withResolvers<void>() }
      all.set(key, inquiry)
      return inquiry
    },
    close: (key: string) => void all.delete(key),
  }
}
