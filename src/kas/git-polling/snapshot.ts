import type { Mirror, TreeFile } from '../../adapters/git/index.ts'
import type { Snapshot } from '../ports.ts'

type Turnstile = <T>(work: () => Promise<T>) => Promise<T>

/**
 * A commit whose files are fetched when the first stream wants them, and listed once for all that follow. The signal is that of
 * the program: a stream that hangs up must not take the files from the others.
 */
export function createSnapshot(
  mirror: Mirror,
  found: { commit: string; refName: string | undefined },
  turnstile: Turnstile,
  signal: AbortSignal,
): Snapshot {
  let listed: Promise<TreeFile[]> | undefined
  let isFetched = false
  const list = async () => {
    await mirror.fetch(found.commit, signal)
    const files = await mirror.files(found.commit, signal)
    isFetched = true
    return files
  }
  const forget = () => {
    listed = undefined
    isFetched = false
  }
  return {
    ...found,
    get isFetched() {
      return isFetched
    },
    files() {
      if (!listed) {
        listed = turnstile(list)
        // What failed once may succeed for the next who asks.
        listed.catch(forget)
      }
      return listed
    },
    async read(files, ended) {
      try {
        return await turnstile(() => mirror.read(files, ended))
      } catch (thrown) {
        forget()
        throw thrown
      }
    },
  }
}
