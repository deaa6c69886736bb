import { setImmediate as breathe } from 'node:timers/promises'
import { Failure } from '../../std/index.ts'

export interface Gathering<T> {
  /** Contents in the order of the files; one process, however many files. */
  read: (files: readonly T[]) => Promise<Uint8Array[]>
  /** Waits until another process may run. */
  pass: (work: () => Promise<void>) => Promise<void>
  /** Bytes that are read together, unless somebody alone wants more. */
  most?: number
}

/** The files that one stream wants to read. */
interface Wish<T> {
  files: readonly T[]
  bytes: number
  signal: AbortSignal
  resolve: (contents: Uint8Array[]) => void
  reject: (failure: unknown) => void
}

/** As much as one stream has in memory at once. */
const MOST = 4 * 2 ** 20

/**
 * Reads what many streams want with few processes: what came while one waited for its turn goes along with it. With a process
 * for each of a thousand streams kas would be busy starting them, at 10 to 25 ms each in which it does nothing else.
 */
export function gather<T extends { size: number }>({ read, pass, most = MOST }: Gathering<T>) {
  const waiting: Wish<T>[] = []
  let isCalled = false

  const take = (): Wish<T>[] => {
    const taken: Wish<T>[] = []
    let bytes = 0
    for (const wish of waiting) {
      bytes += wish.bytes
      if (taken.length > 0 && bytes > most) break
      taken.push(wish)
    }
    waiting.splice(0, taken.length)
    return taken.filter(isWanted)
  }
  const serve = async (): Promise<void> => {
    // Who asks in the same breath goes along.
    await breathe()
    isCalled = false
    const wishes = take()
    if (waiting.length > 0) call()
    if (wishes.length > 0) await serveAll(wishes, read)
  }
  const call = (): void => {
    if (isCalled) return
    isCalled = true
    void pass(serve)
  }

  return (files: readonly T[], signal: AbortSignal): Promise<Uint8Array[]> =>
    new Promise((resolve, reject) => {
      waiting.push({ files, bytes: files.reduce((sum, { size }) => sum + size, 0), signal, resolve, reject })
      call()
    })
}

function isWanted<T>({ signal, reject }: Wish<T>): boolean {
  if (signal.aborted) reject(new Failure('cancelled', 'nobody waits for these files any more'))
  return !signal.aborted
}

/** Their failure is the failure of each. */
async function serveAll<T>(wishes: readonly Wish<T>[], read: Gathering<T>['read']): Promise<void> {
  try {
    const contents = await read(wishes.flatMap(({ files }) => files))
    let at = 0
    for (const { files, resolve } of wishes) {
      resolve(contents.slice(at, at + files.length))
      at += files.length
    }
  } catch (failure) {
    for (const { reject } of wishes) reject(failure)
  }
}
