import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createMemoryGuard, wordsForNoNetwork } from '../../adapters/processes/index.ts'
import { beginningOf, Failure, type Log, seconds } from '../../std/index.ts'
import { checkPath, isLink, refused, type SourceFile } from './source.ts'

/** What programs that render may take. */
export interface RenderLimits {
  /** Milliseconds. */
  time: number
  /** Of the output. */
  bytes: number
  /** Bytes in memory of all that run at once; each collects garbage harder from half of it on. */
  memory: number
}

/** 5,000 objects take kustomize 126 MiB, and more than this time. */
export const RENDER_LIMITS: RenderLimits = { time: seconds(20), bytes: 32 * 2 ** 20, memory: 384 * 2 ** 20 }

/** A program that renders the files of a commit. */
export interface Renderer {
  /** Its path, or its name in the search path. */
  path: string
  /** As people know it. */
  name: 'kustomize' | 'helm'
  /** What a commit is asked to mend. */
  rendered: 'kustomization' | 'chart'
  /** What takes much memory without looking like it. */
  suspect: string
  /** Whether all that it complains of counts, and not its first line alone. */
  isWordy: boolean
  /** What is said where there is no such program. */
  absent: { reason: string; remedy: string }
}

interface Job {
  files: readonly SourceFile[]
  /** What it is called with: `at` gives the place of a path of the repository, `beside` that of one of the files beside it. */
  parameters: (at: (path: string) => string, beside: (index: number) => string) => readonly string[]
  /** Files that are not to be seen under the name that somebody gave them: where a name could mean more than one file. */
  beside?: readonly Uint8Array[]
  /** What it reads from its standard input. */
  input?: string
  signal?: AbortSignal | undefined
}

export type RunConfined = (program: Renderer, job: Job) => Promise<string>

/**
 * Runs programs that render where they can do no harm: each in a folder of its own that holds nothing but the given files, with an empty
 * PATH and home, and no network. Where the machine does not let us take the network away, a dead end for a proxy stands for it, past
 * which this machine's own addresses are still reached: then that no remote reference comes so far is all there is.
 */
export function createConfined(limits: RenderLimits, log: Log): RunConfined {
  const running = new Set<number>()
  const guard = createMemoryGuard({ bytes: limits.memory, roots: () => [...running] })
  let words: Promise<readonly string[]> | undefined
  return (program, { files, beside = [], parameters, input, signal }) =>
    inRoom(files, beside, async (room) => {
      words ??= wordsForNoNetworkOr(log)
      const given = parameters(
        (path) => join(room, 'checkout', path),
        (index) => join(room, 'beside', String(index)),
      )
      const command = [...(await words), program.path, ...given]
      return guard.during(() => run({ program, command, input, room, limits, running, signal }))
    })
}

/** Told once to the person who runs the program: one of two walls is missing. */
async function wordsForNoNetworkOr(log: Log): Promise<readonly string[]> {
  const words = await wordsForNoNetwork()
  if (words.length === 0)
    log.warn('what renders has no network namespace of its own here', {
      why: '`unshare -U -n` is not allowed, as with the seccomp profile RuntimeDefault, or not there',
      instead: 'remote references are refused, and their proxy leads nowhere',
    })
  return words
}

async function inRoom(
  files: readonly SourceFile[],
  beside: readonly Uint8Array[],
  work: (room: string) => Promise<string>,
): Promise<string> {
  const room = await mkdtemp(join(tmpdir(), 'berth-render-'))
  try {
    await mkdir(join(room, 'home'))
    for (const file of files) await place(join(room, 'checkout'), file).catch((thrown: unknown) => unplaced(file, thrown))
    await mkdir(join(room, 'beside'))
    for (const [index, data] of beside.entries()) await writeFile(join(room, 'beside', String(index)), data, { mode: 0o600 })
    return await work(room)
  } finally {
    await rm(room, { recursive: true, force: true })
  }
}

/** A fresh folder holds no links, and none are made: so nothing is ever written through one. */
async function place(checkout: string, file: SourceFile): Promise<void> {
  if (file.link !== undefined) throw isLink(file)
  const { source, data } = file
  const target = join(checkout, checkPath(source))
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, data, { flag: 'wx', mode: 0o600 })
}

/** Git keeps names that no file system takes. */
function unplaced({ source }: SourceFile, thrown: unknown): never {
  if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ENAMETOOLONG')) throw thrown
  throw refused(`${beginningOf(source, 100)}: is longer than a file's name may be (255 bytes each part, 4095 all)`, 'Shorten it.')
}

interface Run {
  program: Renderer
  /** The program to start, which may start that one, and its arguments. */
  command: readonly string[]
  input: string | undefined
  room: string
  limits: RenderLimits
  /** Its process is in it while it runs. */
  running: Set<number>
  signal: AbortSignal | undefined
}

function run({ program, command, input, room, limits, running, signal }: Run): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const home = join(room, 'home')
  const [first = '', ...words] = command
  const child = spawn(first, words, {
    cwd: home,
    env: {
      HOME: home,
      TMPDIR: home,
      PATH: join(room, 'none'),
      HTTP_PROXY: DEAD_END,
      HTTPS_PROXY: DEAD_END,
      GOMEMLIMIT: String(limits.memory >> 1),
      GOMAXPROCS: '2',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: limits.time,
    killSignal: 'SIGKILL',
    ...(signal && { signal }),
  })
  const { pid } = child
  // It may have ended before it read anything: then it says why.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  if (pid) running.add(pid)
  const output: Buffer[] = []
  let complaint = ''
  let size = 0
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > limits.bytes) child.kill('SIGKILL')
    else output.push(chunk)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    if (complaint.length < 4000) complaint += chunk.toString('utf8')
  })
  const { name } = program
  child.on('error', (thrown) =>
    reject('code' in thrown && thrown.code === 'ENOENT' ? isAbsent(program) : Failure.from(thrown, name)),
  )
  child.on('close', (code, killed) => {
    if (pid) running.delete(pid)
    if (size > limits.bytes) reject(broken(program, 'too-large', `${name} wrote more than ${limits.bytes} bytes`))
    else if (killed && !child.killed) reject(tooMuchMemory(program, limits))
    else if (killed) reject(broken(program, 'invalid', `${name} was ended after ${limits.time / 1000} s`))
    else if (code === NOT_FOUND) reject(isAbsent(program))
    else if (code === 0) resolve(Buffer.concat(output).toString('utf8'))
    else reject(broken(program, 'invalid', plain(program, complaint, room)))
  })
  return promise
}

/** A program that starts another one exits with this when there is none, as a shell does. */
const NOT_FOUND = 127

/** The search path is empty, so that nothing else is found either. */
const isAbsent = ({ rendered, path, absent }: Renderer): Failure =>
  new Failure('unavailable', `${rendered}s cannot be rendered: there is no program ${path}`, absent)

const broken = ({ rendered }: Renderer, code: 'invalid' | 'too-large', message: string): Failure =>
  new Failure(code, message, { reason: 'RenderFailed', remedy: `Correct the ${rendered} and push` })

/** Nobody here called it off: the guard, which ends the largest of all, or the kernel has ended it. */
const tooMuchMemory = (program: Renderer, { memory }: RenderLimits): Failure =>
  broken(
    program,
    'too-large',
    `${program.name} took too much of ${memory >> 20} MiB of memory, and was ended; look for ${program.suspect}`,
  )

const DEAD_END = 'http://127.0.0.1:9'

/** What it said and is no warning, without the names of our folders. */
function plain({ name, isWordy }: Renderer, complaint: string, room: string): string {
  const lines = complaint.trim().split('\n')
  const telling = lines.filter((line) => !IS_WARNING.test(line)).map((line) => line.trim())
  const said = (isWordy ? telling.join(' ') : telling[0]) || (lines[0] ?? '')
  const text = said.replaceAll(`${room}/checkout/`, '').replaceAll(`${room}/checkout`, '.')
  // That it was cut is seen: it may end in the beginning of what is secret.
  return `${name}: ${beginningOf(text.replace(/^error: /i, ''), 600)}`
}

const IS_WARNING = /^# Warning|^level=WARN/
