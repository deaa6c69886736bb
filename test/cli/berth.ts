import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { run } from '../../src/cli/run.ts'
import { plain, type Shell } from '../../src/cli/shell.ts'

export const ROOT = join(import.meta.dirname, '..', '..')

export const MAIN = join(ROOT, 'src', 'cli', 'main.ts')

export interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

export interface Surroundings {
  env?: Record<string, string | undefined>
  cwd?: string
  /** What standard input has. */
  input?: string
  /** What the person at the terminal answers. Nobody is there without it. */
  answer?: string
}

/** What the doctor prints with `-o json`. */
export interface Finding {
  check: string
  mark: string
  message: string
  remedy?: string
}

export const findingsIn = (stdout: string, check?: string): Finding[] =>
  JSON.parse(stdout).filter((finding: Finding) => check === undefined || finding.check === check)

/** The only one of a check. */
export function findingIn(stdout: string, check: string): Finding {
  const [finding, ...others] = findingsIn(stdout, check)
  if (!finding || others.length > 0) throw new Error(`not one finding of ${check}: ${stdout}`)
  return finding
}

/** Lines that a terminal of 80 columns would break. Commands and failures are kept whole, paths count as short ones. */
export const tooWide = (text: string): string[] =>
  text.split('\n').filter((line) => line.replace(/\/\S+/g, '/…').length > 80 && !/^ +\$ |^berth: /.test(line))

/** `berth` as a process of its own, with what it has printed so far. */
export interface Berth {
  process: ChildProcess
  printed(): Outcome
  ended: Promise<Outcome>
}

/** What `berth up` tells people to put into their environment. */
export function exportedIn(stdout: string): Record<string, string> {
  const exported = stdout.split('\n').flatMap((line) => (line.startsWith('  export ') ? line.trim().split(' ').slice(1) : []))
  return Object.fromEntries(exported.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]))
}

/** Its standard input, where there is any, stays open. */
export function startBerth(parameters: string[], { env, cwd = ROOT, input }: Surroundings = {}): Berth {
  const child = spawn(process.execPath, [MAIN, ...parameters], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  child.stdin?.write(input)
  const seen: Outcome = { code: null, stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    seen.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    seen.stderr += text
  })
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ ...seen, code }))
  })
  return { process: child, printed: () => seen, ended }
}

/** A shell whose words nobody hears. */
export const shellOf = ({ env, cwd = ROOT, input = '', answer }: Surroundings): Shell => ({
  print: () => undefined,
  say: () => undefined,
  readInput: async () => input,
  streams: () => ({ input: new PassThrough(), output: new PassThrough() }),
  ask: async () => answer,
  handOver: async () => 0,
  env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  cwd,
  home: ROOT,
  berth: [process.execPath, MAIN],
  signal: new AbortController().signal,
  paint: plain,
  lively: false,
})

/** Runs a command line in this process, in a shell of its own: for all that needs no process. */
export async function berth(parameters: string[], surroundings: Surroundings = {}): Promise<Outcome> {
  const seen: Outcome = { code: null, stdout: '', stderr: '' }
  const shell = {
    ...shellOf(surroundings),
    print: (text: string) => {
      seen.stdout += `${text}\n`
    },
    say: (text: string) => {
      seen.stderr += text
    },
    handOver: (program: string, given: readonly string[]) => runSeen(program, given, surroundings, seen),
  }
  seen.code = await run(parameters, shell)
  return seen
}

/** Runs a program as from a terminal that nobody sees. */
function runSeen(program: string, given: readonly string[], { env, input = '' }: Surroundings, seen: Outcome): Promise<number> {
  const child = spawn(program, given, { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    seen.stderr += text
  })
  // It may end without reading its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? -1))
  })
}
