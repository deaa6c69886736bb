import { Failure, isFailure } from '../../std/index.ts'
import { ANSWER_TOO_LARGE } from './answers.ts'

/** Pages of one list: a hundred times as many as the largest cluster has. */
const MOST = 10_000
/** Pages of one size after which larger ones are tried. */
const ENOUGH = 8
/** Pages in a row without an object. There may be some, says the API, where a selector leaves everything out. */
const MOST_EMPTY = 100

/** To be told of each page, with how many it has. Throws `unavailable` where a server goes on with a list for ever. */
function createPageLimit(about: string): (items: number) => void {
  let pages = 0
  let empty = 0
  return (items) => {
    pages++
    empty = items === 0 ? empty + 1 : 0
    if (pages > MOST || empty > MOST_EMPTY)
      throw new Failure('unavailable', `the list of ${about} does not end: there were ${pages} pages, the last ${empty} empty`, {
        reason: 'EndlessList',
      })
  }
}

/** Asks for a page of so many objects. Where that is too large an answer it asks for fewer, and for more again after it. */
export function createPageSize(most: number): <T>(ask: (limit: number) => Promise<T>) => Promise<T> {
  let limit = most
  let good = 0
  return async (ask) => {
    for (;;) {
      try {
        const page = await ask(limit)
        good++
        // Where the large objects are over; each try costs an answer that is thrown away.
        if (good % ENOUGH === 0) limit = Math.min(most, limit * 2)
        return page
      } catch (thrown) {
        good = 0
        if (limit === 1 || !isFailure(thrown, 'too-large') || thrown.reason !== ANSWER_TOO_LARGE) throw thrown
        limit = Math.ceil(limit / 8)
      }
    }
  }
}

/** A page of a list, as it is answered. */
export interface ListPage<T> {
  metadata: { continue?: string; resourceVersion: string }
  items: T[] | null
}

export type FetchPage<T> = (part: { limit?: number; continue?: string | undefined }) => Promise<ListPage<T>>

/** The pages of a list, of `most` objects each. A stranger's server may send one without metadata. */
export async function* pagesOf<T>(about: string, most: number, fetch: FetchPage<T>): AsyncGenerator<ListPage<T>> {
  const count = createPageLimit(about)
  const ask = createPageSize(most)
  for (let next: string | undefined = ''; next !== undefined; ) {
    const from = next || undefined
    const page: ListPage<T> = await ask((limit) => fetch({ limit, continue: from }))
    count(page.items?.length ?? 0)
    yield page
    next = page.metadata?.continue || undefined
  }
}

/** Goes through a list, once more from its beginning where the rest of it expires on the way: only a later page can be too old. */
export async function orBegunAnew<T>(goThrough: () => Promise<T>): Promise<T> {
  try {
    return await goThrough()
  } catch (failure) {
    if (isFailure(failure, 'expired')) return goThrough()
    throw failure
  }
}
