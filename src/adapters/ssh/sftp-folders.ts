import { createTurnstile, Failure } from '../../std/index.ts'

/** Names of files in all folders that somebody has open: some 40 MB. */
const MOST_NAMES = 200_000

export type OpenFolders = ReturnType<typeof createOpenFolders>

/** What is read of each on its way is some 8 MB, and one that hangs does not hold up the others. */
const AT_ONCE = 4

/** Of one person, however many connections and channels there are: few folders are read at once, and all keep so many names together. */
export function createOpenFolders() {
  let names = 0
  const reads = createTurnstile({ width: AT_ONCE })
  return {
    /** Throws `too-large` where they do not fit. */
    open<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]> {
      return reads.pass('', async () => {
        const entries = await read()
        if (names + entries.length > MOST_NAMES)
          throw new Failure('too-large', `the folders that you have open have more than ${MOST_NAMES} names together`)
        names += entries.length
        return entries
      })
    },
    close(entries: readonly unknown[]): void {
      names -= entries.length
    },
  }
}
