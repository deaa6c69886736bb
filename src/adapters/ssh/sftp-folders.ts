import { Failure } from '../../std/index.ts'

/** Names of files in all folders that somebody has open: some 40 MB. */
const MOST_NAMES = 200_000

export type OpenFolders = ReturnType<typeof createOpenFolders>

/** Of one person, however many connections and channels there are: folders are read one after the other, and keep so many names together. */
export function createOpenFolders() {
  let names = 0
  let last: Promise<unknown> = Promise.resolve()
  return {
    /** Throws `too-large` where they do not fit. */
    open<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]> {
      const opening = last.then(async () => {
        const entries = await read()
        if (names + entries.length > MOST_NAMES)
          throw new Failure('too-large', `the folders that you have open have more than ${MOST_NAMES} names together`)
        names += entries.length
        return entries
      })
      last = opening.catch(() => undefined) // Whoever opens it hears of it.
      return opening
    },
    close(entries: readonly unknown[]): void {
      names -= entries.length
    },
  }
}
