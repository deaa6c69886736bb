import { type SimpleGit, simpleGit } from 'simple-git'
import { Failure, minutes } from '../../std/index.ts'
import type { MemoryGuard } from '../processes/index.ts'
import type { Settings } from './keys.ts'
import type { Pin } from './reach.ts'
import { authorizationOf, type Protocol, type Remote } from './remote.ts'

export interface GitProgramSettings {
  /** The PATH on which `git` is found, and the variables that it needs to reach the network (proxies). Nothing else is inherited. */
  environment: Readonly<Record<string, string>>
  /** An empty folder of our own. */
  home: string
  protocols: readonly Protocol[]
  /** Longest silence of a git process, milliseconds. */
  patience?: number
  guard: MemoryGuard
}

export interface GitRun {
  folder: string
  /** Only for what talks to the server. */
  remote?: Remote
  pin?: Pin | undefined
  /** The settings that lead git to its keys. */
  keys?: Settings
  /** Longest silence, if it is not that of the settings; milliseconds. */
  patience?: number
  /** Bytes that it may say; MOST_OUTPUT without it. */
  most?: number
  /** Bytes for standard input. */
  input?: string
  signal: AbortSignal
}

const GUARDED = [
  'GIT_TERMINAL_PROMPT',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_CONFIG_GLOBAL',
  'GIT_ALLOW_PROTOCOL',
  'GIT_OPTIONAL_LOCKS',
  'GIT_CONFIG_COUNT',
]
/**
 * The configuration of every git. Redirects are not followed: they are how a repository would make kas fetch from where only kas can
 * reach, and take credentials along. A transfer that crawls for half a minute is given up.
 */
const CONFINEMENT: Settings = [
  ['core.hooksPath', '/dev/null'],
  ['core.askPass', ''],
  ['credential.helper', ''],
  ['http.followRedirects', 'false'],
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '30'],
  ['fetch.recurseSubmodules', 'false'],
  // One file for each fetch, not one for each object.
  ['fetch.unpackLimit', '1'],
  ['gc.autoDetach', 'false'],
  ['gc.pruneExpire', '1.hour.ago'],
  // Mirrors are tidied when nobody waits for it.
  ['maintenance.auto', 'false'],
  // A larger file passes through in pieces, and is never compared with another. It is more than any file that is read may have.
  ['core.bigFileThreshold', '8m'],
  // Of the bases of deltas, each process would keep 96 MiB.
  ['core.deltaBaseCacheLimit', '8m'],
  // Each thread has a memory of its own.
  ['pack.threads', '1'],
]

/** The credential, the pin and two for keys come on top. */
const VARIABLES = [...CONFINEMENT, '', '', '', ''].flatMap((_, at) => [`GIT_CONFIG_KEY_${at}`, `GIT_CONFIG_VALUE_${at}`])

/** Bytes that a process may say: its kind decides what is more than that, and a server that goes on without end is cut off. */
const MOST_OUTPUT = 8 * 2 ** 20
/** Bytes of its complaints, in which a server's words are repeated. */
const MOST_COMPLAINT = 2 ** 20

/** Runs one git process and gives its answer. It is confined: no prompt, no configuration but ours, no protocol but those allowed. */
export async function git(settings: GitProgramSettings, run: GitRun, words: readonly string[]): Promise<string> {
  const excess = new AbortController()
  const bound = (stream: NodeJS.ReadableStream, most: number): void => {
    let left = most
    stream.on('data', (chunk: Uint8Array) => {
      left -= chunk.length
      if (left < 0) excess.abort()
    })
  }
  const runner = runnerOf(settings, run, excess.signal).outputHandler((_, stdout, stderr) => {
    bound(stdout, run.most ?? MOST_OUTPUT)
    bound(stderr, MOST_COMPLAINT)
  })
  try {
    return await settings.guard.during(() => runner.raw([...words]))
  } catch (thrown) {
    throw excess.signal.aborted ? tooMuch(words[0]) : thrown
  }
}

/** As `git cat-file --batch`, whose answer is as long as the files that `input` names. */
export const contentsOf = (settings: GitProgramSettings, run: GitRun): Promise<Uint8Array> =>
  settings.guard.during(() => runnerOf(settings, run).binaryCatFile(['--batch']))

const tooMuch = (command = ''): Failure => new Failure('too-large', `git ${command} says more than is read`)

function runnerOf(settings: GitProgramSettings, run: GitRun, excess?: AbortSignal): SimpleGit {
  const { folder, patience, input, signal } = run
  const runner = simpleGit({
    baseDir: folder,
    abort: excess ? AbortSignal.any([signal, excess]) : signal,
    // By itself simple-git takes what has come 50 ms after the exit for all there is: on a busy machine half a list of files.
    completion: { onClose: true, onExit: false },
    timeout: { block: patience ?? settings.patience ?? minutes(2) },
    allowEnvironment: [...GUARDED, ...VARIABLES],
    // What it finds dangerous in the hands of strangers is set here alone: by CONFINEMENT to nothing, by keys.ts to `ssh -F` ours.
    unsafe: {
      allowUnsafeConfigEnvCount: true,
      allowUnsafeConfigPaths: true,
      allowUnsafeAskPass: true,
      allowUnsafeCredentialHelper: true,
      allowUnsafeHooksPath: true,
      allowUnsafeSshCommand: true,
      allowUnsafeTemplateDir: true,
    },
    // By itself simple-git takes a failure that prints nothing for a success.
    errors: (error, { exitCode, stdErr }) =>
      error ?? (exitCode === 0 ? undefined : new Failure('internal', lastWords(exitCode, Buffer.concat(stdErr).toString()))),
    ...(input !== undefined && { input: () => input }),
  })
  return runner.env({
    ...settings.environment,
    HOME: settings.home,
    XDG_CONFIG_HOME: settings.home,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_OPTIONAL_LOCKS: '0',
    // What only reads a mirror asks nobody for what is missing there: that would be without the pin.
    GIT_ALLOW_PROTOCOL: run.remote ? settings.protocols.join(':') : '',
    ...settingsOf(run),
  })
}

/** Git's words about its end; where it has none, those that it has for a process that it started itself. */
function lastWords(exitCode: number | null, complaint: string): string {
  if (exitCode === null) return `${complaint}\ngit died of signal 9`
  return complaint || `git ended with ${exitCode}`
}

/** In the environment, so that nothing that happens to a file can loosen it. The credential is nowhere else, and for its host alone. */
function settingsOf({ remote, pin, keys = [] }: GitRun): Record<string, string> {
  const settings = [...CONFINEMENT, ...keys]
  if (remote?.credential) {
    const { origin } = new URL(remote.url)
    settings.push([`http.${origin}/.extraHeader`, `Authorization: ${authorizationOf(remote.credential)}`])
  }
  if (pin) settings.push(['http.curloptResolve', curlOf(pin)])
  const variables = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ])
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(variables) }
}

const curlOf = ({ host, port, addresses }: Pin): string =>
  `${host}:${port}:${addresses.map((address) => (address.includes(':') ? `[${address}]` : address)).join(',')}`
