import { seconds } from './clock.ts'
import { Failure } from './failure.ts'
import type { LogLevel } from './log.ts'

/** One setting of a program: its flag, its value in the program's Config and its line in docs/configuration.md come from here. */
export interface Setting<T> {
  /** As commander writes it: `--listen <host:port>`. */
  flag: string
  /** The environment variable that counts where the flag is not given. */
  variable?: string | undefined
  /** Says in --help what it is for. */
  text: string
  /** Counts where neither is given. */
  fallback?: string
  isRequired?: boolean
  /** The flag may be given several times. */
  isRepeated?: boolean
  read(given: Given): T
}

type Given = string | readonly string[] | undefined

export type SettingTable = Readonly<Record<string, Setting<unknown>>>

/** A program's settings as they were given and understood: the type of its Config comes from its table. */
export type SettingValues<S extends SettingTable> = { [K in keyof S]: S[K] extends Setting<infer T> ? T : never }

/** Flags as commander keeps them: `sessionGrace` for --session-grace, and `dashboard: false` for --no-dashboard. */
export type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/** Environment variables by their names. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** Says which setting is wrong and how it is written; every program says it alike. */
export const wrongSetting = (flag: string, given: string, remedy: string, why = ''): Failure =>
  new Failure('invalid', `${flag} is "${given}"${why}`, { remedy })

/** Understands what was given, or throws `invalid` with the flag, the value and a remedy, which may show the example. */
export type SettingParser<T> = (given: string, flag: string, example?: string) => T

/** `fallback` counts where nothing is given. */
export function setting<T>(
  flag: string,
  variable: string | undefined,
  parse: SettingParser<T>,
  fallback: string,
  text: string,
): Setting<T> {
  const read = (given: Given) => parse(typeof given === 'string' ? given : fallback, nameOf(flag), fallback)
  return { flag, variable, fallback, text, read }
}

export function optional<T>(
  flag: string,
  variable: string | undefined,
  parse: SettingParser<T>,
  text: string,
): Setting<T | undefined> {
  return { flag, variable, text, read: (given) => (typeof given === 'string' ? parse(given, nameOf(flag)) : undefined) }
}

/** Without it the program does not start. */
export function required<T>(flag: string, variable: string, parse: SettingParser<T>, text: string): Setting<T> {
  const name = nameOf(flag)
  const read = (given: Given) => {
    if (typeof given === 'string' && given !== '') return parse(given, name)
    throw new Failure('invalid', `${name} is missing`, { remedy: `Give ${name}, or set ${variable}.` })
  }
  return { flag, variable, text, isRequired: true, read }
}

/** Off until it is given; `--no-x` is on until then. Other words than true and false are refused: `yes` must not count as no. */
export function toggle(flag: string, variable: string | undefined, text: string): Setting<boolean> {
  const isNegative = flag.startsWith(NEGATION)
  const read = (given: Given = '') => {
    if (given === '' || given === 'false') return isNegative
    if (given === 'true') return !isNegative
    throw wrongSetting(variable ?? flag, String(given), 'Write true or false.')
  }
  return { flag, variable, text, read }
}

/** Flags win over variables, variables over defaults. */
export function readSettings<S extends SettingTable>(settings: S, flags: Flags, env: EnvironmentVariables): SettingValues<S> {
  const values = Object.entries(settings).map(([key, { flag, variable, read }]) => {
    const given = flags[attributeOf(flag)]
    const isSwitched = typeof given === 'boolean' && given !== flag.startsWith(NEGATION)
    const otherwise = isSwitched ? 'true' : variable && env[variable]
    return [key, read(typeof given === 'boolean' ? otherwise : (given ?? otherwise))]
  })
  // Each key has what its own line has read: the compiler cannot follow that through a list.
  return Object.fromEntries(values)
}

const NEGATION = '--no-'

/** `--listen` of `--listen <host:port>` */
const nameOf = (flag: string): string => flag.replace(/ .*/, '')

/** Commander's key for it: `sessionGrace` of `--session-grace <seconds>`. */
const attributeOf = (flag: string): string =>
  nameOf(flag)
    .replace(/^--(no-)?/, '')
    .replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

export const anyText: SettingParser<string> = (given) => given

export const hostAndPort: SettingParser<string> = (given, flag, example = '127.0.0.1:8080') => {
  if (/^\S+:\d{1,5}$/.test(given)) return given
  throw wrongSetting(flag, given, `Write it like ${flag} ${example}.`, ', which is not HOST:PORT')
}

export const integer =
  (least = 1, most = Number.MAX_SAFE_INTEGER): SettingParser<number> =>
  (given, flag) => {
    const number = Number(given)
    if (Number.isSafeInteger(number) && number >= least && number <= most) return number
    const top = most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : ''
    throw wrongSetting(flag, given, `Write a whole number from ${least}${top}.`)
  }

/** Gives milliseconds, as all times in the code are. */
export const wholeSeconds =
  (...bounds: Parameters<typeof integer>): SettingParser<number> =>
  (given, flag) =>
    seconds(integer(...bounds)(given, flag))

/** Words with commas between. */
export const words: SettingParser<string[]> = (given) =>
  given
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']

export const logLevel: SettingParser<LogLevel> = (given, flag) => {
  const found = LEVELS.find((name) => name === given)
  if (found) return found
  throw wrongSetting(flag, given, `Use one of ${LEVELS.join(', ')}.`)
}

/** TLS needs both files. */
export function tlsFiles(
  certificate: string | undefined,
  key: string | undefined,
): { certificate: string; key: string } | undefined {
  if (certificate && key) return { certificate, key }
  if (!(certificate || key)) return undefined
  throw wrongSetting(key ? '--tls-cert' : '--tls-key', '', 'Give --tls-cert and --tls-key together, or neither.')
}

const httpUrl: SettingParser<string> = (given, flag) => {
  const url = /^https?:\/\//.test(given) && URL.canParse(given) ? new URL(given) : undefined
  if (url && !(url.username || url.password || url.search || url.hash)) return given
  throw wrongSetting(
    flag,
    given,
    `Write it like ${flag} http://collector.monitoring:4318.`,
    ', which is no http:// or https:// URL without user, query and fragment',
  )
}

/** For programs that work on commits. The variable is OpenTelemetry's. */
// biome-ignore format: a setting has two lines, how it is given and what it is for.
export const TRACE_SETTINGS = {
  otlpEndpoint: optional('--otlp-endpoint <url>', 'OTEL_EXPORTER_OTLP_ENDPOINT', httpUrl,
    'where traces of commits are sent, by OTLP over HTTP; none are made without it'),
}

/** For programs that serve a cluster. The client reads KUBECONFIG and the pod's service account by itself. */
// biome-ignore format: a setting has two lines, how it is given and what it is for.
export const CLUSTER_SETTINGS = {
  kubeconfig: optional('--kubeconfig <file>', undefined, anyText,
    "kubeconfig of the cluster (default: $KUBECONFIG, the pod's service account, ~/.kube/config)"),
  context: optional('--context <name>', undefined, anyText,
    'context in the kubeconfig'),
}
