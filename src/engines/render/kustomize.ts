import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createMemoryGuard, wordsForNoNetwork } from '../../adapters/processes/index.ts'
import { beginningOf, Failure, type Log, seconds } from '../../std/index.ts'
import { checkPath, isLink, refused, type SourceFile } from './source.ts'

export interface KustomizeLimits {
  /** Milliseconds. */
  time: number
  /** Of the output. */
  bytes: number
  /** Bytes in memory of all that run at once; each collects garbage harder from half of it on. */
  memory: number
}

/** 5,000 objects take 126 MiB, and kustomize more than this time for them. */
export const KUSTOMIZE_LIMITS: KustomizeLimits = { time: seconds(20), bytes: 32 * 2 ** 20, memory: 384 * 2 ** 20 }

/** Builds these files with kustomize. */
type Kustomize = (files: readonly SourceFile[], path: string, signal?: AbortSignal) => Promise<string>

/**
 * Runs the real kustomize (`kustomize build`, or `kubectl kustomize`) where it can do no harm: a folder of its own that holds nothing but the
 * given files, an empty PATH and home, and no network. Its own load restriction keeps it below its root. Where the machine
 * does not let us take the network away, a dead end for a proxy stands for it, past which kustomize still reaches this
 * machine's own addresses: then that no remote reference comes so far is all there is.
 */
export function createKustomize(program: string, limits: KustomizeLimits, log: Log): Kustomize {
  const verb = basename(program) === 'kustomize' ? 'build' : 'kustomize'
  const running = new Set<number>()
  const guard = createMemoryGuard({ bytes: limits.memory, roots: () => [...running] })
  let words: Promise<readonly string[]> | undefined
  return (files, path, signal) =>
    inRoom(files, async (room) => {
      words ??= wordsForNoNetworkOr(log)
      const command = [...(await words), program]
      return guard.during(() => run({ command, verb, path, room, limits, running, signal }))
    })
}

/** Told once to the person who runs the program: one of two walls is missing. */
async function wordsForNoNetworkOr(log: Log): Promise<readonly string[]> {
  const words = await wordsForNoNetwork()
  if (words.length === 0)
    log.warn('kustomize has no network namespace of its own here', {
      why: '`unshare -U -n` is not allowed, as with the seccomp profile RuntimeDefault, or not there',
      instead: 'remote references are refused, and its proxy leads nowhere',
    })
  return words
}

async function inRoom(files: readonly SourceFile[], work: (room: string) => Promise<string>): Promise<string> {
  const room = await mkdtemp(join(tmpdir(), 'berth-render-'))
  try {
    await mkdir(join(room, 'home'))
    for (const file of files) await place(join(room, 'checkout'), file).catch((thrown: unknown) => unplaced(file, thrown))
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
  /** The program to start, and its first arguments. */
  command: readonly string[]
  verb: 'build' | 'kustomize'
  path: string
  room: string
  limits: KustomizeLimits
  /** Its process is in it while it runs. */
  running: Set<number>
  signal: AbortSignal | undefined
}

function run({ command, verb, path, room, limits, running, signal }: Run): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const home = join(room, 'home')
  const [program = '', ...words] = command
  const child = spawn(program, [...words, verb, join(room, 'checkout', path)], {
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
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limits.time,
    killSignal: 'SIGKILL',
    ...(signal && { signal }),
  })
  const { pid } = child
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
  child.on('error', (thrown) =>
    reject('code' in thrown && thrown.code === 'ENOENT' ? noProgram(command) : Failure.from(thrown, 'kustomize')),
  )
  child.on('close', (code, killed) => {
    if (pid) running.delete(pid)
    if (size > limits.bytes) reject(broken('too-large', `kustomize wrote more than ${limits.bytes} bytes`))
    else if (killed && !child.killed) reject(tooMuchMemory(limits))
    else if (killed) reject(broken('invalid', `kustomize was ended after ${limits.time / 1000} s`))
    else if (code === NOT_FOUND) reject(noProgram(command))
    else if (code === 0) resolve(Buffer.concat(output).toString('utf8'))
    else reject(broken('invalid', plain(complaint, room)))
  })
  return promise
}

/** A program that starts another one exits with this when there is none, as a shell does. */
const NOT_FOUND = 127

/** The search path is empty, so that nothing else is found either. */
const noProgram = (command: readonly string[]): Failure =>
  new Failure('unavailable', `kustomizations cannot be rendered: there is no program ${command.at(-1)}`, {
    reason: 'KubectlNotFound',
    remedy: 'Give the operator the full path of kubectl or kustomize (--kubectl)',
  })

const broken = (code: 'invalid' | 'too-large', message: string): Failure =>
  new Failure(code, message, { reason: 'RenderFailed', remedy: 'Correct the kustomization and push' })

/** Nobody here called it off: the guard, which ends the largest of all, or the kernel has ended it. */
const tooMuchMemory = ({ memory }: KustomizeLimits): Failure =>
  broken('too-large', `kustomize took too much of ${memory >> 20} MiB of memory, and was ended; look for anchors that multiply`)

const DEAD_END = 'http://127.0.0.1:9'

/** The first line of what it said and is no warning, without the names of our folders. */
function plain(complaint: string, room: string): string {
  const lines = complaint.trim().split('\n')
  const line = lines.find((one) => !one.startsWith('# Warning')) ?? lines[0] ?? ''
  const text = line.replaceAll(`${room}/checkout/`, '').replaceAll(`${room}/checkout`, '.')
  return `kustomize: ${text.replace(/^error: /i, '').slice(0, 600)}`
}
