import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, Failure, hours, isFailure } from '../../std/index.ts'
import { failureFromGit } from './failures.ts'
import { mirrorName, type Remote } from './remote.ts'
import { checkRevision, describeRevision, parseRefs, pickRef, type Refs, type Revision, refsOf, remedyFor } from './revision.ts'
import { CONFIGURATION, type GitSettings, git, type Run } from './run.ts'
import { parseBatch, parseTree, type TreeFile } from './tree.ts'

/** Where a revision was found. */
export interface Located {
  commit: string
  /** Full name, such as `refs/heads/main`; `undefined` for a commit that was asked for by its id. */
  refName: string | undefined
}

/** A bare copy of the parts of a repository that somebody follows, and the way to its server. */
export interface Mirror {
  /** The commit that a revision is now, asked of the server. `undefined`: the repository is empty. */
  locate(revision: Revision, signal: AbortSignal): Promise<Located | undefined>
  /** Brings a commit here, unless it is. Only what is missing is transferred, without history. */
  fetch(commit: string, signal: AbortSignal): Promise<void>
  /** The regular files of a commit that was fetched. */
  files(commit: string, signal: AbortSignal): Promise<TreeFile[]>
  /** Their contents, in the same order, read by one process. */
  read(files: readonly TreeFile[], signal: AbortSignal): Promise<Uint8Array[]>
}

export interface Mirrors {
  of(remote: Remote): Mirror
}

export interface MirrorOptions extends Omit<GitSettings, 'home'> {
  /** Belongs to one process. All of it can be deleted while that does not run. */
  folder: string
  clock: Clock
}

/** Mirrors that nobody opened for so long are removed at the next start. */
const FORGOTTEN = hours(7 * 24)

/** Opens the data folder, takes away what a crash or the past left in it, and hands out mirrors. */
export async function openMirrors({ folder, clock, ...rest }: MirrorOptions): Promise<Mirrors> {
  const settings: GitSettings = { ...rest, home: join(folder, 'home') }
  const repositories = join(folder, 'mirrors')
  await mkdir(settings.home, { recursive: true, mode: 0o700 })
  await mkdir(repositories, { recursive: true, mode: 0o700 })
  await writeFile(join(settings.home, '.gitconfig'), CONFIGURATION)
  await tidy(repositories, clock.now() - FORGOTTEN)
  const turns = new Map<string, Promise<unknown>>()
  return {
    of(remote) {
      const place = join(repositories, `${mirrorName(remote)}.git`)
      return new BareMirror(settings, place, remote, turns, clock)
    },
  }
}

/** A killed git leaves lock files behind, and nobody but us ever held them. */
async function tidy(repositories: string, oldest: number): Promise<void> {
  for (const name of await readdir(repositories)) {
    const place = join(repositories, name)
    if ((await stat(place)).mtimeMs < oldest) await rm(place, { recursive: true, force: true })
    else
      for (const file of await readdir(place, { recursive: true }))
        if (file.endsWith('.lock')) await rm(join(place, file), { force: true })
  }
}

class BareMirror implements Mirror {
  readonly #settings: GitSettings
  readonly #place: string
  readonly #remote: Remote
  /** The last change of each mirror: fetches of one repository go one after the other. */
  readonly #turns: Map<string, Promise<unknown>>
  readonly #clock: Clock

  constructor(settings: GitSettings, place: string, remote: Remote, turns: Map<string, Promise<unknown>>, clock: Clock) {
    this.#settings = settings
    this.#place = place
    this.#remote = remote
    this.#turns = turns
    this.#clock = clock
  }

  async locate(revision: Revision, signal: AbortSignal): Promise<Located | undefined> {
    checkRevision(revision)
    if (revision.kind === 'commit') return { commit: revision.name, refName: undefined }
    const refs = await this.#listRefs(refsOf(revision), signal)
    const found = pickRef(revision, refs)
    if (found) return { commit: found.commit, refName: refs.links.get(found.name) ?? found.name }
    const everything = await this.#listRefs([], signal)
    if (everything.commits.size === 0) return undefined
    throw new Failure('not-found', `${this.#remote.url} has no ${describeRevision(revision)}`, {
      reason: 'RefNotFound',
      remedy: remedyFor(revision),
    })
  }

  async fetch(commit: string, signal: AbortSignal): Promise<void> {
    await this.#inTurn(async () => {
      if (await this.#has(commit, signal)) return
      try {
        await this.#fetch(commit, signal)
      } catch (thrown) {
        if (!isFailure(thrown) || thrown.reason !== 'MirrorDamaged') throw thrown
        await rm(this.#place, { recursive: true, force: true })
        await this.#fetch(commit, signal)
      }
    })
  }

  async files(commit: string, signal: AbortSignal): Promise<TreeFile[]> {
    return this.#orThrowAway(async () =>
      parseTree(await this.#git(['ls-tree', '-r', '-z', '-l', '--full-tree', commit, '--'], { signal })),
    )
  }

  async read(files: readonly TreeFile[], signal: AbortSignal): Promise<Uint8Array[]> {
    if (files.length === 0) return []
    const run = { folder: this.#place, input: `${files.map(({ blob }) => blob).join('\n')}\n`, signal }
    return this.#orThrowAway(async () => [
      ...parseBatch(Buffer.from(await this.#guarded(git(this.#settings, run).binaryCatFile(['--batch'])))),
    ])
  }

  async #listRefs(names: string[], signal: AbortSignal): Promise<Refs> {
    const run = { folder: this.#settings.home, remote: this.#remote, signal }
    return parseRefs(await this.#git(['ls-remote', '--symref', '--', this.#remote.url, ...names], run))
  }

  async #has(commit: string, signal: AbortSignal): Promise<boolean> {
    try {
      await stat(this.#place)
      await this.#git(['rev-parse', '--verify', '--quiet', `refs/berth/${commit}^{tree}`], { signal })
      return true
    } catch (thrown) {
      if (isFailure(thrown, 'cancelled')) throw thrown
      return false
    }
  }

  /** Each commit has a ref of its own while it is among the last few: one that is being read never loses its objects. */
  async #fetch(commit: string, signal: AbortSignal): Promise<void> {
    await mkdir(this.#place, { recursive: true, mode: 0o700 })
    await this.#git(['init', '--bare', '--quiet'], { signal })
    const options = ['--depth=1', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head', '--quiet']
    await this.#git(['fetch', ...options, '--', this.#remote.url, `+${commit}:refs/berth/${commit}`], {
      remote: this.#remote,
      signal,
    })
    const now = this.#clock.now() / 1000
    await utimes(this.#place, now, now)
    await this.#forgetOld(signal)
  }

  async #forgetOld(signal: AbortSignal): Promise<void> {
    const kept = 8
    const output = await this.#git(['for-each-ref', '--sort=-creatordate', '--format=%(refname)', 'refs/berth/'], { signal })
    const old = output.split('\n').filter(Boolean).slice(kept)
    if (old.length === 0) return
    await this.#git(['update-ref', '--stdin'], { signal, input: old.map((name) => `delete ${name}\n`).join('') })
  }

  /** A disk can lose what was here. The next fetch finds nothing and starts afresh. */
  async #orThrowAway<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      if (isFailure(thrown) && thrown.reason === 'MirrorDamaged')
        await this.#inTurn(() => rm(this.#place, { recursive: true, force: true }))
      throw thrown
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(this.#place) ?? Promise.resolve()
    const mine = before.then(work, work)
    const settled = mine.then(
      () => undefined,
      () => undefined,
    )
    this.#turns.set(this.#place, settled)
    void settled.then(() => {
      if (this.#turns.get(this.#place) === settled) this.#turns.delete(this.#place)
    })
    return mine
  }

  #git(words: string[], run: Omit<Run, 'folder'> & { folder?: string }): Promise<string> {
    return this.#guarded(git(this.#settings, { folder: this.#place, ...run }).raw(words))
  }

  async #guarded<T>(work: PromiseLike<T>): Promise<T> {
    try {
      return await work
    } catch (thrown) {
      throw failureFromGit(thrown, this.#remote)
    }
  }
}
