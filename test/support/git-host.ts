import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type GitCredential, serveGit } from '../../src/adapters/git/index.ts'

const run = promisify(execFile)
const IDENTITY = ['-c', 'user.name=test', '-c', 'user.email=test@example.com']

interface Said {
  author?: string
  message?: string
  /** Of settings with which git signs it. */
  sign?: readonly string[]
}

export interface TestRepository {
  /** Without credentials. */
  url: string
  /** Writes these files (`undefined` removes one), commits, pushes; gives the commit. `said`: who it is by, and its message. */
  commit(files: Record<string, string | Uint8Array | undefined>, branch?: string, said?: Said): Promise<string>
  /** Puts a symbolic link or a submodule in the place of whatever is there on main; gives the commit. */
  link(path: string, kind: 'symbolic link' | 'submodule'): Promise<string>
  /** A commit on main of nothing but these files, however many; gives the commit. */
  fill(files: Iterable<[path: string, content: string]>): Promise<string>
  /** A commit on main with one folder, in which one empty file has so many names: 37 bytes each, and almost nothing to transfer. */
  crowd(names: number): Promise<string>
  /** A commit on main with one file so deep in folders within folders, and so many names for the first of them. */
  cascade(names: number, depth: number): Promise<string>
  /** A commit on top of main in which only these files differ; gives the commit. Its time does not grow with the repository. */
  change(files: Iterable<[path: string, content: string]>): Promise<string>
  tag(name: string, commit: string): Promise<void>
  branch(name: string, commit: string): Promise<void>
  removeBranch(branch: string): Promise<void>
  /** A ref of any kind, by its whole name. */
  ref(name: string, commit: string): Promise<void>
}

export interface GitHost {
  url: string
  /** Where the bare repositories are, each as `<name>.git`. */
  folder: string
  /** PATH, for programs that run git. */
  environment: { PATH: string }
  /** What was asked of the server since the last time: requests, and bytes that it answered. */
  traffic(): { requests: number; bytes: number }
  /** An empty repository; with commits if it is given any. */
  repository(name: string): Promise<TestRepository>
  close(): Promise<void>
}

/** A real Git server over smart HTTP, with repositories to push to. */
export async function gitHost({ credential }: { credential?: GitCredential } = {}): Promise<GitHost> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-git-'))
  const environment = { PATH: process.env.PATH ?? '' }
  let requests: { bytes: () => number }[] = []
  const repositories = join(folder, 'repositories')
  await mkdir(repositories)
  const onRequest = (request: { bytes: () => number }) => void requests.push(request)
  const server = await serveGit({ folder: repositories, environment, onRequest, ...(credential ? { credential } : {}) })
  return {
    url: server.url,
    folder: repositories,
    environment,
    traffic() {
      const taken = requests
      requests = []
      return { requests: taken.length, bytes: taken.reduce((sum, { bytes }) => sum + bytes(), 0) }
    },
    async repository(name) {
      const bare = join(repositories, `${name}.git`)
      await git(repositories, 'init', '--quiet', '--bare', '--initial-branch=main', bare)
      return repositoryIn(bare, join(folder, 'work', name), `${server.url}/${name}.git`)
    },
    async close() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function repositoryIn(bare: string, work: string, url: string): TestRepository {
  const prepare = async (branch: string) => {
    await mkdir(work, { recursive: true })
    await git(work, 'init', '--quiet', '--initial-branch=main')
    await git(work, 'checkout', '--quiet', '-B', branch)
  }
  return {
    url,
    async commit(files, branch = 'main', { author = 'test', message = 'change', sign } = {}) {
      await prepare(branch)
      for (const [path, content] of Object.entries(files)) {
        const file = join(work, path)
        await mkdir(dirname(file), { recursive: true })
        await (content === undefined ? rm(file) : writeFile(file, content))
      }
      await git(work, 'add', '--all')
      await writeFile(join(work, '.git', 'said'), message)
      const said = ['--author', `${author} <author@example.com>`, '--cleanup=verbatim', '--file', '.git/said']
      const [settings, signing] = sign ? [sign, ['-S']] : [[], []]
      await git(work, ...IDENTITY, ...settings, 'commit', '--quiet', '--allow-empty', ...signing, ...said)
      await git(work, 'push', '--quiet', '--force', bare, branch)
      return git(work, 'rev-parse', 'HEAD')
    },
    // To git a submodule is the id of a commit, and a link a text.
    link: (path, kind) =>
      kind === 'submodule'
        ? imported(bare, ['from refs/heads/main^0', `D ${path}`, `M 160000 ${'5'.repeat(40)} ${path}`], [])
        : imported(bare, ['from refs/heads/main^0', `D ${path}`, `M 120000 inline ${path}`, 'data 10', '../x/y.yml'], []),
    fill: (files) => imported(bare, ['deleteall'], files),
    crowd: (names) => crowded(bare, names),
    async cascade(names, depth) {
      await imported(bare, ['deleteall'], [[`${'a/'.repeat(depth - 1)}x`, '']])
      const first = await git(bare, 'rev-parse', 'refs/heads/main^{tree}')
      const folders = Array.from({ length: names }, (_, at) => `040000 tree ${first}\t${at}\n`)
      return committed(bare, await answered(bare, ['mktree'], folders.join('')))
    },
    change: (files) => imported(bare, ['from refs/heads/main^0'], files),
    async tag(name, commit) {
      await git(bare, ...IDENTITY, 'tag', '-a', '-m', 'tag', name, commit)
    },
    async branch(name, commit) {
      await git(bare, 'branch', '--force', name, commit)
    },
    async ref(name, commit) {
      await git(bare, 'update-ref', name, commit)
    },
    async removeBranch(branch) {
      await git(bare, 'update-ref', '-d', `refs/heads/${branch}`)
    },
  }
}

/** A commit on main, straight into the repository. `start`: what it begins with, in the words of git-fast-import. */
async function imported(bare: string, start: string[], files: Iterable<[path: string, content: string]>): Promise<string> {
  const stream = ['commit refs/heads/main', 'committer test <test@example.com> 0 +0000', 'data 0', ...start]
  for (const [path, content] of files) stream.push(`M 100644 inline ${path}`, `data ${Buffer.byteLength(content)}`, content)
  const importing = execFile('git', ['fast-import', '--quiet', '--force'], { cwd: bare })
  importing.stdin?.end(`${stream.join('\n')}\n`)
  await once(importing, 'close')
  return git(bare, 'rev-parse', 'refs/heads/main')
}

async function crowded(bare: string, names: number): Promise<string> {
  const write = (type: string, content: Buffer) => answered(bare, ['hash-object', '-w', '--stdin', '-t', type], content)
  const blob = Buffer.from(await write('blob', Buffer.alloc(0)), 'hex')
  const folder = Buffer.alloc(names * 37)
  for (let at = 0; at < names; at++) {
    folder.write(`100644 f${String(at).padStart(8, '0')}\0`, at * 37, 'latin1')
    blob.copy(folder, at * 37 + 17)
  }
  return committed(bare, await write('tree', folder))
}

async function committed(bare: string, tree: string): Promise<string> {
  const commit = await git(bare, ...IDENTITY, 'commit-tree', '-m', 'test', tree)
  await git(bare, 'update-ref', 'refs/heads/main', commit)
  return commit
}

/** What git answers to what it is given. */
async function answered(bare: string, words: string[], input: string | Buffer): Promise<string> {
  const running = execFile('git', words, { cwd: bare })
  running.stdin?.end(input)
  const [said] = await once(running.stdout ?? running, 'data')
  return String(said).trim()
}

async function git(folder: string, ...words: string[]): Promise<string> {
  const { stdout } = await run('git', words, { cwd: folder })
  return stdout.trim()
}
