import { type Judge, type Line, lineAfterWrite } from '../state/book.ts'
import type { LiveBook } from './live-book.ts'

/** A book for one pass, without watches: what it knows is what was read and written in that pass. */
export function createPlainBook(judge: Judge): LiveBook {
  const lines = new Map<string, Line>()
  return {
    lines,
    edition: 0,
    isYoung: false,
    follow: () => Promise.resolve(),
    wrote: (item, object) => void lines.set(item.key, lineAfterWrite(object, item, judge)),
    read(book) {
      for (const [key, line] of book) lines.set(key, line)
    },
    unwatched: (held) => [...held],
    end: () => undefined,
  }
}
