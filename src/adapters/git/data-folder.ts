import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, Failure, hours, minutes, pause, seconds } from '../../std/index.ts'

/** How much room mirrors may take. */
export interface DiskLimits {
  /** Bytes of one repository's mirror. */
  repository: number
  /** Bytes of all of them. */
  total: number
}

export const defaultDiskLimits: DiskLimits = { repository: 2 * 2 ** 30, total: 8 * 2 ** 30 }

interface MirrorFolder {
  bytes: number
  usedAt: number
}

/** Mirrors that nobody used for so long are removed. */
const FORGOTTEN = hours(7 * 24)
/** Only what was not used for so long is removed to make room: two repositories must not chase each other out. */
const IDLE = minutes(10)
const LOOK_EVERY = seconds(1)

/** Opens the folder and takes away what a crash or the past left in it. */
export async function openDataFolder(parent: string, limits: DiskLimits, clock: Clock): Promise<DataFolder> {
  const folders = new Map<string, MirrorFolder>()
  await mkdir(parent, { recursive: true, mode: 0o700 })
  for (const name of await readdir(parent)) {
    const place = join(parent, name)
    const usedAt = (await stat(place)).mtimeMs
    if (usedAt < clock.now() - FORGOTTEN) await remove(place)
    else folders.set(name, { bytes: await tidied(place), usedAt })
  }
  return new DataFolder(parent, limits, clock, folders)
}

/** A git that was just called off may still write there. */
const remove = (place: string): Promise<void> => rm(place, { recursive: true, force: true, maxRetries: 3, retryDelay: 100 })

/** A killed git leaves locks and half packs behind, and nobody but us ever held them. Gives the bytes of what is left. */
async function tidied(place: string): Promise<number> {
  for (const file of await filesIn(place))
    if (/\.lock$|\/(tmp_|\.tmp-)[^/]*$/.test(file)) await rm(file, { recursive: true, force: true })
  return sizeOf(place)
}

/** The folders of mirrors: how large they are, when they were used, and which of them have to go. */
export class DataFolder {
  readonly #parent: string
  readonly #limits: DiskLimits
  readonly #clock: Clock
  readonly #folders: Map<string, MirrorFolder>
  readonly #growing = new Set<string>()

  constructor(parent: string, limits: DiskLimits, clock: Clock, folders: Map<string, MirrorFolder>) {
    this.#parent = parent
    this.#limits = limits
    this.#clock = clock
    this.#folders = folders
  }

  /** Of all mirrors, as they were last measured. */
  get bytes(): number {
    return [...this.#folders.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  place(name: string): string {
    return join(this.#parent, name)
  }

  /** Somebody reads it: it will not be taken away soon. */
  use(name: string): void {
    this.#folders.set(name, { bytes: this.#folders.get(name)?.bytes ?? 0, usedAt: this.#clock.now() })
  }

  /** Does work that lets a mirror grow: ends it, and drops the mirror, when that becomes too large. Gives the bytes it grew by. */
  async growing(name: string, about: string, work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<number> {
    const before = this.#folders.get(name)?.bytes ?? 0
    this.use(name)
    this.#growing.add(name)
    try {
      await this.#watched(name, about, work, signal)
    } catch (thrown) {
      if (thrown instanceof Failure && DROPPED.has(thrown.reason ?? '')) await this.drop(name)
      throw thrown
    } finally {
      this.#growing.delete(name)
    }
    await this.#markUsed(name)
    return Math.max(0, (this.#folders.get(name)?.bytes ?? 0) - before)
  }

  async drop(name: string): Promise<void> {
    this.#folders.delete(name)
    await remove(this.place(name))
  }

  /** Takes away the files of a git that was ended while it wrote. Nobody else may write there meanwhile. */
  async tidy(name: string): Promise<void> {
    await tidied(this.place(name))
  }

  async #watched(name: string, about: string, work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const full = new AbortController()
    const over = new AbortController()
    const watching = this.#watch(name, about, full, over.signal)
    try {
      await work(AbortSignal.any([signal, full.signal]))
    } catch (thrown) {
      throw full.signal.aborted ? full.signal.reason : thrown
    } finally {
      over.abort()
      await watching
    }
    const failure = await this.#measured(name, about)
    if (failure) throw failure
  }

  /** A repository may be larger than the disk: it has to be stopped while it comes. */
  async #watch(name: string, about: string, full: AbortController, over: AbortSignal): Promise<void> {
    while (!over.aborted && !full.signal.aborted) {
      await pause(this.#clock, LOOK_EVERY, over)
      if (over.aborted) return
      const failure = await this.#measured(name, about)
      if (failure) full.abort(failure)
    }
  }

  async #measured(name: string, about: string): Promise<Failure | undefined> {
    const bytes = await sizeOf(this.place(name))
    this.#folders.set(name, { bytes, usedAt: this.#clock.now() })
    if (bytes > this.#limits.repository) return tooLarge(about, this.#limits.repository)
    await this.#makeRoom()
    return this.bytes > this.#limits.total ? noRoom(about, this.#limits.total) : undefined
  }

  /** Those that were not used for the longest time go first. */
  async #makeRoom(): Promise<void> {
    const now = this.#clock.now()
    const idle = [...this.#folders].filter(([name, { usedAt }]) => !this.#growing.has(name) && now - usedAt > IDLE)
    for (const [name, { usedAt }] of idle.sort(([, a], [, b]) => a.usedAt - b.usedAt))
      if (this.bytes > this.#limits.total || now - usedAt > FORGOTTEN) await this.drop(name)
  }

  /** The time outlives this process. */
  async #markUsed(name: string): Promise<void> {
    const now = this.#clock.now() / 1000
    await utimes(this.place(name), now, now)
  }
}

const DROPPED: ReadonlySet<string> = new Set(['RepositoryTooLarge', 'DataFolderFull', 'DataFolderUnwritable'])

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`

const tooLarge = (about: string, limit: number) =>
  new Failure('invalid', `${about}: one commit of the repository takes more than ${megabytes(limit)}`, {
    reason: 'RepositoryTooLarge',
    remedy: 'Follow a smaller repository, or raise --max-repository-size of kas.',
  })

const noRoom = (about: string, limit: number) =>
  new Failure('unavailable', `${about}: the mirrors of all repositories together take more than ${megabytes(limit)}`, {
    reason: 'DataFolderFull',
    remedy: 'Raise --max-data-size of kas, or follow fewer repositories.',
  })

async function filesIn(place: string): Promise<string[]> {
  try {
    const entries = await readdir(place, { recursive: true, withFileTypes: true })
    return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []))
  } catch {
    // Gone, or not a folder: there is nothing in it.
    return []
  }
}

async function sizeOf(place: string): Promise<number> {
  const files = await filesIn(place)
  // A file that vanishes meanwhile was a temporary one.
  const sizes = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
