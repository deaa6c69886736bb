import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, Failure, isFailure, seconds } from '../../std/index.ts'
import type { DataFolder } from './data-folder.ts'
import { failureFromDisk, failureFromGit } from './failures.ts'
import { withKeys } from './keys.ts'
import type { Approach } from './reach.ts'
import type { createRecent } from './recent.ts'
import { mirrorName, type Remote } from './remote.ts'
import {
  checkRevision,
  describeRevision,
  matching,
  parseRefs,
  pickRef,
  type Refs,
  type Revision,
  refsOf,
  remedyFor,
} from './revision.ts'
import { contentsOf, type GitProgramSettings, type GitRun, git } from './run.ts'
import { type CommitLine, parseBatch, parseLine, parseSizes, parseTree, type TreeFile } from './tree.ts'

/** The place in the repository to which a revision leads. */
interface LocatedCommit {
  commit: string
  /** Full name, such as `refs/heads/main`; `undefined` for a commit that was asked for by its id. */
  refName: string | undefined
}

/** A transfer from a server, whether it succeeded or not. */
export interface Transfer {
  commit: string
  milliseconds: number
  /** By which the mirror grew. */
  bytes: number
  failure?: Failure
}

/** A list of refs is short: a server that does not come with it hangs. */
const LIST_PATIENCE = seconds(30)

/** Bytes of a list of files: 270,000 of them with paths of 60 characters. The parsed list takes three times as much. */
const MOST_FILES = 32 * 2 ** 20

/** Of what git says of one commit: a message may be as long as a file. */
const MOST_OF_COMMIT = 2 ** 16

/** Bytes of commits that are read together: each may be as long as whoever wrote it likes. */
const MOST_OF_COMMITS = 16 * 2 ** 20

/** What a mirror has of its commits. */
interface Extent {
  suffix: string
  options: readonly string[]
  /** What has to be there of a commit that was fetched. */
  proof: 'tree' | 'commit'
}

const FILES: Extent = { suffix: '', options: ['--depth=1'], proof: 'tree' }

/** The most commits that lead from one to another. */
export const MOST_BETWEEN = 1000

/** Nothing but commits: servers that do not know the filter send the files of all of them, as far as there is room. */
const HISTORY: Extent = { suffix: '-history', options: [`--depth=${MOST_BETWEEN + 1}`, '--filter=tree:0'], proof: 'commit' }

/** All mirrors share these. */
export interface MirrorServices {
  settings: GitProgramSettings
  data: DataFolder
  approach: Approach
  clock: Clock
  onTransfer: (transfer: Transfer) => void
  /** The last change of each mirror: fetches of one repository go one after the other. */
  turns: Map<string, Promise<unknown>>
  recent: ReturnType<typeof createRecent>
}

/** A bare copy of the parts of a repository that somebody follows, and the way to its server. */
export class Mirror {
  readonly #services: MirrorServices
  readonly #name: string
  readonly #place: string
  readonly #remote: Remote
  readonly #extent: Extent

  constructor(services: MirrorServices, remote: Remote, extent = FILES) {
    this.#services = services
    this.#extent = extent
    this.#name = `${mirrorName(remote)}${extent.suffix}.git`
    this.#place = services.data.place(this.#name)
    this.#remote = remote
  }

  /** The commit that a revision is now, asked of the server. `undefined`: the repository is empty. */
  async locate(revision: Revision, signal: AbortSignal): Promise<LocatedCommit | undefined> {
    checkRevision(revision)
    if (revision.kind === 'commit') return { commit: revision.name, refName: undefined }
    const refs = await this.#listRefs(refsOf(revision), signal)
    const found = await pickRef(revision, refs)
    if (found) return { commit: found.commit, refName: refs.links.get(found.name) ?? found.name }
    if (await this.#isEmpty(signal)) return undefined
    throw new Failure('not-found', `${this.#remote.url} has no ${describeRevision(revision)}`, {
      reason: 'RefNotFound',
      remedy: remedyFor(revision),
    })
  }

  /** The commits of all refs that match, by name. `undefined`: the repository is empty, which says nothing of what there was. */
  async refs(pattern: string, signal: AbortSignal): Promise<Map<string, string> | undefined> {
    const revision: Revision = { kind: 'refs', name: pattern }
    checkRevision(revision)
    const found = matching(pattern, await this.#listRefs(refsOf(revision), signal))
    return found.size === 0 && (await this.#isEmpty(signal)) ? undefined : found
  }

  /** Brings a commit here, unless it is here. Only objects that are missing are transferred, without history. */
  async fetch(commit: string, signal: AbortSignal): Promise<void> {
    await this.#inTurn(async () => {
      this.#services.data.use(this.#name)
      if (!(await this.#has(commit, signal))) await this.#bring(commit, signal)
    })
    this.#noteUse(commit, signal)
  }

  /** The regular files of a commit that was fetched. */
  async files(commit: string, signal: AbortSignal): Promise<TreeFile[]> {
    const run = { signal, most: MOST_FILES }
    return this.#orThrowAway(
      async () => parseTree(await this.#git(['ls-tree', '-r', '-z', '-l', '--full-tree', commit, '--'], run)),
      [commit],
    )
  }

  /** Who wrote a commit that was fetched, and its subject, in UTF-8 whatever it was written in. */
  async line(commit: string, signal: AbortSignal): Promise<CommitLine> {
    const run = { signal, most: MOST_OF_COMMIT }
    return parseLine(await this.#git(['log', '-1', '--no-show-signature', '--format=%an%x00%s', commit, '--'], run))
  }

  /** Another copy, of commits without their files. */
  history(): Mirror {
    return new Mirror(this.#services, this.#remote, HISTORY)
  }

  /**
   * The commits that the one has and the other has not, the newest first; one more than MOST_BETWEEN where there are more. Of a history.
   * What is older than that is not here: a commit that comes in by a branch that began so long ago counts as one that the other has not.
   * `unknown`: why nobody can tell.
   */
  async between(from: string, to: string, signal: AbortSignal): Promise<{ commits: string[] } | { unknown: string }> {
    const words = ['rev-list', `--max-count=${MOST_BETWEEN + 1}`, to, `^${from}`, '--']
    const found = await this.#orThrowAway(() =>
      this.#inTurn(async () => {
        if (!(await this.#isThere(from, signal)) && !(await this.#broughtOld(from, signal)))
          return { unknown: `${from} is no longer in the repository` }
        // Also when it is here: each transfer cuts off what lies deeper below its own commit, be it of this history.
        await this.#bring(to, signal)
        const commits = (await this.#git(words, { signal })).split('\n').filter(Boolean)
        const edge = commits.length > MOST_BETWEEN ? undefined : await this.#edgeAmong(commits)
        return edge === undefined ? { commits } : { unknown: `the server does not give what comes before ${edge}` }
      }),
    )
    for (const commit of [from, to]) this.#noteUse(commit, signal)
    return found
  }

  /** Git takes a commit at which a transfer was cut off for one without parents. */
  async #edgeAmong(commits: readonly string[]): Promise<string | undefined> {
    const cut = new Set((await readFile(join(this.#place, 'shallow'), 'utf8').catch(nothingThere)).split('\n'))
    return commits.find((commit) => cut.has(commit))
  }

  /** Whether a commit that was there once still is. */
  async #broughtOld(commit: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#bring(commit, signal)
      return true
    } catch (thrown) {
      if (isFailure(thrown) && thrown.reason === 'RefNotFound') return false
      throw thrown
    }
  }

  /** Commits that were fetched, as Git keeps them, in the same order. */
  async commits(ids: readonly string[], signal: AbortSignal): Promise<Buffer[]> {
    const input = `${ids.join('\n')}\n`
    return this.#orThrowAway(async () => {
      const sizes = parseSizes(await this.#git(['cat-file', '--batch-check'], { input, signal }), ids)
      const bytes = sizes.reduce((sum, size) => sum + size, 0)
      if (bytes > MOST_OF_COMMITS)
        throw new Failure('too-large', `${ids.length} commits have ${bytes} bytes; at most ${MOST_OF_COMMITS} are read`)
      const contents = await this.#guarded(contentsOf(this.#services.settings, { folder: this.#place, input, signal }))
      return parseBatch(
        Buffer.from(contents),
        sizes.map((size) => ({ size })),
        'commit',
      )
    }, ids)
  }

  /** Their contents, in the same order, read by one process. */
  async read(files: readonly TreeFile[], signal: AbortSignal): Promise<Uint8Array[]> {
    if (files.length === 0) return []
    this.#services.data.use(this.#name)
    const run = { folder: this.#place, input: `${files.map(({ blob }) => blob).join('\n')}\n`, signal }
    return this.#orThrowAway(async () =>
      parseBatch(Buffer.from(await this.#guarded(contentsOf(this.#services.settings, run))), files),
    )
  }

  /** Transfers it, also when it is here. */
  async #bring(commit: string, signal: AbortSignal): Promise<void> {
    this.#services.data.use(this.#name)
    try {
      await this.#transfer(commit, signal)
    } catch (thrown) {
      if (isFailure(thrown, 'too-large')) await this.#services.data.tidy(this.#name)
      if (!isFailure(thrown) || thrown.reason !== 'MirrorDamaged') throw thrown
      await this.#services.data.drop(this.#name)
      await this.#transfer(commit, signal)
    }
  }

  #noteUse(commit: string, signal: AbortSignal): void {
    if (this.#services.recent.use(this.#name, commit)) void this.#inTurn(() => this.#tidy(signal))
  }

  /** A list that is too long to be read is none of an empty repository. */
  async #isEmpty(signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.#listRefs([], signal)).commits.size === 0
    } catch (thrown) {
      if (isFailure(thrown, 'too-large')) return false
      throw thrown
    }
  }

  async #listRefs(names: string[], signal: AbortSignal): Promise<Refs> {
    const pin = await this.#services.approach(this.#remote)
    const { home } = this.#services.settings
    await mkdir(home, { recursive: true, mode: 0o700 })
    return withKeys(home, this.#remote, pin, async (keys) => {
      const run = { folder: home, remote: this.#remote, pin, keys, patience: LIST_PATIENCE, signal }
      return parseRefs(await this.#git(['ls-remote', '--symref', '--', this.#remote.url, ...names], run))
    })
  }

  /** Mostly it is not: that is seen without starting a process. */
  async #has(commit: string, signal: AbortSignal): Promise<boolean> {
    const ref = `refs/berth/${commit}`
    const isLoose = await stat(join(this.#place, ref)).then(Boolean, () => false)
    if (!isLoose && !(await readFile(join(this.#place, 'packed-refs'), 'utf8').catch(() => '')).includes(ref)) return false
    return this.#isThere(`${ref}^{${this.#extent.proof}}`, signal)
  }

  async #isThere(object: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#git(['cat-file', '-e', object], { signal })
      return true
    } catch (thrown) {
      if (isFailure(thrown, 'cancelled')) throw thrown
      return false
    }
  }

  async #transfer(commit: string, signal: AbortSignal): Promise<void> {
    const { data, clock, onTransfer } = this.#services
    const began = clock.now()
    try {
      const bytes = await data.growing(this.#name, this.#remote.url, (ended) => this.#fetch(commit, ended), signal)
      onTransfer({ commit, milliseconds: clock.now() - began, bytes })
    } catch (thrown) {
      const failure = Failure.from(thrown)
      onTransfer({ commit, milliseconds: clock.now() - began, bytes: 0, failure })
      throw failure
    }
  }

  /** Each commit has a ref of its own while it is among the last few: one that is being read never loses its objects. */
  async #fetch(commit: string, signal: AbortSignal): Promise<void> {
    const pin = await this.#services.approach(this.#remote)
    try {
      await mkdir(this.#place, { recursive: true, mode: 0o700 })
    } catch (thrown) {
      throw failureFromDisk(thrown, this.#remote)
    }
    const isThere = await stat(join(this.#place, 'HEAD')).then(Boolean, () => false)
    if (!isThere) await this.#git(['init', '--bare', '--quiet', '--template='], { signal })
    // Not --quiet: simple-git waits 50 ms longer for a process that says nothing.
    const options = [...this.#extent.options, '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head']
    await withKeys(this.#services.settings.home, this.#remote, pin, (keys) =>
      this.#git(['fetch', ...options, '--', this.#remote.url, `+${commit}:refs/berth/${commit}`], {
        remote: this.#remote,
        pin,
        keys,
        signal,
      }),
    )
  }

  /** Nobody waits for it, and what it does not manage the next one does. */
  async #tidy(signal: AbortSignal): Promise<void> {
    try {
      const names = await this.#git(['for-each-ref', '--format=%(refname)', 'refs/berth/'], { signal })
      const kept = this.#services.recent.kept(this.#name)
      const old = names.split('\n').filter((name) => name !== '' && !kept.has(name.slice('refs/berth/'.length)))
      if (old.length > 0)
        await this.#git(['update-ref', '--stdin'], { signal, input: old.map((name) => `delete ${name}\n`).join('') })
      await this.#git(['gc', '--auto', '--quiet'], { signal })
    } catch (thrown) {
      if (!isFailure(thrown)) throw thrown
      if (thrown.code === 'too-large') await this.#services.data.tidy(this.#name)
    }
  }

  /** A disk can lose what was here. The next fetch finds nothing and starts afresh. `commits`: of which something was asked. */
  async #orThrowAway<T>(work: () => Promise<T>, commits: readonly string[] = []): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      if (isFailure(thrown) && thrown.reason === 'MirrorDamaged') {
        await this.#requireCommits(commits)
        await this.#inTurn(() => this.#services.data.drop(this.#name))
      }
      throw thrown
    }
  }

  /** Tags lead to whatever their authors like. */
  async #requireCommits(ids: readonly string[]): Promise<void> {
    const input = `${ids.join('\n')}\n`
    const lines = await this.#git(['cat-file', '--batch-check'], { input, signal: new AbortController().signal }).catch(() => '')
    const [, id, type] = /^([0-9a-f]+) (blob|tree|tag) /m.exec(lines) ?? []
    if (id !== undefined)
      throw new Failure('invalid', `${this.#remote.url}: ${id} is a ${type}, and no commit`, {
        reason: 'RefNotCommit',
        remedy: 'Follow a branch, a tag of a commit, or the id of a commit.',
      })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const { turns } = this.#services
    const before = turns.get(this.#name) ?? Promise.resolve()
    const mine = before.then(work, work)
    const settled = Promise.allSettled([mine])
    turns.set(this.#name, settled)
    void settled.then(() => {
      if (turns.get(this.#name) === settled) turns.delete(this.#name)
    })
    return mine
  }

  #git(words: string[], run: Omit<GitRun, 'folder'> & { folder?: string }): Promise<string> {
    return this.#guarded(git(this.#services.settings, { folder: this.#place, ...run }, words))
  }

  async #guarded<T>(work: PromiseLike<T>): Promise<T> {
    try {
      return await work
    } catch (thrown) {
      throw failureFromGit(thrown, this.#remote)
    }
  }
}

/** Of a file that need not be there. */
function nothingThere(thrown: unknown): string {
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return ''
  throw Failure.from(thrown)
}
