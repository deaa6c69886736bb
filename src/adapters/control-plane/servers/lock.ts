import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { pid } from 'node:process'
import { type Clock, Failure, pause, seconds } from '../../../std/index.ts'
import { isAlive } from './processes.ts'

const HEARTBEAT = seconds(5)
/** A holder that has not been heard of for this long is gone, wherever it ran. */
const STALE = seconds(30)

export interface LockOptions {
  clock: Clock
  /** Told once when somebody else holds the lock. */
  waiting(holder: string): void
  signal?: AbortSignal | undefined
}

/** Waits for the lock file, then holds it until the answer is called. A dead holder's lock is taken over. */
export async function lock(path: string, { clock, waiting, signal }: LockOptions): Promise<() => void> {
  const me = `${hostname()} ${pid}`
  for (let told = false; !create(path, me); told = true) {
    if (signal?.aborted) throw new Failure('cancelled', `stopped while waiting for ${path}`)
    if (isStale(path, clock)) {
      takeOver(path, clock)
      continue
    }
    if (!told) waiting(holderOf(path))
    await pause(clock, 500, signal)
  }
  return hold(path, me, clock)
}

function hold(path: string, me: string, clock: Clock): () => void {
  let cancel = clock.after(HEARTBEAT, beat)
  function beat() {
    const now = clock.now() / 1000
    // Somebody may have removed the lock by hand: what it guards is renamed into place in one step, so nothing breaks.
    attempt(() => utimesSync(path, now, now))
    cancel = clock.after(HEARTBEAT, beat)
  }
  return () => {
    cancel()
    // A holder that was thought dead, or whose folder was removed, may find another's lock there.
    if (holderOf(path) === me) rmSync(path, { force: true })
  }
}

function create(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: 'wx' })
    return true
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST') return false
    throw Failure.from(thrown, path)
  }
}

function isStale(path: string, clock: Clock): boolean {
  const [host, holder] = holderOf(path).split(' ')
  if (host === hostname() && holder && !isAlive(Number(holder))) return true
  return ageOf(path, clock) > STALE
}

/** Of several who see the same dead holder exactly one renames its file; and it removes no lock that was taken since. */
function takeOver(path: string, clock: Clock): void {
  const grave = `${path}.stale`
  if (!create(grave, '') && ageOf(grave, clock) < STALE) return
  if (isStale(path, clock)) renameSync(path, grave)
  rmSync(grave, { force: true })
}

const holderOf = (path: string): string => attempt(() => readFileSync(path, 'utf8')) ?? ''
const ageOf = (path: string, clock: Clock): number => clock.now() - (attempt(() => statSync(path).mtimeMs) ?? clock.now())

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
