import { Failure, isRecord } from '../../../std/index.ts'

const MASK = '***'

/** A value as it may be shown: wherever one of the hidden texts stands in it, `***` stands. */
export interface Hiding {
  /** Of sentences. A hidden text of fewer than four characters is masked where it stands alone: else it would eat the words. */
  text(text: string): string
  value(value: unknown): unknown
  /** The same failure, in other words where they were secret, down to its causes. */
  failure(thrown: unknown): unknown
}

/** Texts of at least so many characters are looked for within words as well. */
const LONG = 4

/** So many texts are looked for; where there are more, of nothing is anything shown. Each costs a search of every sentence. */
const MOST = 2000

/** For values that came from Secrets and were put into other objects: nothing about those objects tells that they are secret. */
export function hiding(hidden: ReadonlySet<string> = new Set()): Hiding {
  const secrets = byLength([...hidden])
  if (secrets.length === 0) return NOTHING_HIDDEN
  if (secrets.length > MOST) return ALL_HIDDEN
  const written = byLength(secrets.flatMap(spellingsOf))
  if (written.length > MOST) return ALL_HIDDEN
  const short = new Set(written.filter(({ length }) => length < LONG))
  const long = written.filter(({ length }) => length >= LONG)
  const numbers = new Set(secrets.map(Number))
  const words = new Set(secrets.map((secret) => secret.toLowerCase()))

  const text = (given: string): string => {
    const whole = long.reduce((left, secret) => left.replaceAll(secret, MASK), given)
    const alone = short.size === 0 ? whole : whole.replace(WORD, (word) => (short.has(word) ? MASK : word))
    return withoutCutOff(alone, long)
  }
  const inText = (given: string): string => secrets.reduce((left, secret) => left.replaceAll(secret, MASK), given)
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return inText(given)
    // A variable that is a whole field takes the type that YAML gives it.
    if (typeof given === 'number') return numbers.has(given) ? MASK : given
    if (typeof given === 'boolean') return words.has(String(given)) ? MASK : given
    if (Array.isArray(given)) return given.map(value)
    if (!isRecord(given)) return given
    return Object.fromEntries(Object.entries(given).map(([key, inner]) => [key, value(inner)]))
  }
  return { text, value, failure: (thrown) => hiddenFailure(thrown, text) }
}

const NOTHING_HIDDEN: Hiding = { text: (text) => text, value: (value) => value, failure: (thrown) => thrown }
const ALL_HIDDEN: Hiding = { text: () => MASK, value: () => MASK, failure: (thrown) => hiddenFailure(thrown, () => MASK) }

const WORD = /[\p{L}\p{N}_]+/gu

/** The longest first: of two, one may be a part of the other. */
const byLength = (texts: readonly string[]): string[] =>
  [...new Set(texts)].filter((text) => text !== '').sort((a, b) => b.length - a.length)

/** As it is, without the line break at its end, as API servers quote it, and line by line. */
function spellingsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.trim().length >= LONG)
  return [secret, secret.trim(), JSON.stringify(secret).slice(1, -1), JSON.stringify(secret.trim()).slice(1, -1), ...lines]
}

/** What was shortened before may end in the beginning of a secret. */
function withoutCutOff(text: string, secrets: readonly string[]): string {
  const [, said = '', dots = ''] = /^(.*?)(…|\.{3})$/s.exec(text) ?? []
  if (dots === '') return text
  for (const secret of secrets)
    for (let length = Math.min(secret.length - 1, said.length); length >= LONG; length--)
      if (said.endsWith(secret.slice(0, length))) return `${said.slice(0, -length)}${MASK}${dots}`
  return text
}

function hiddenFailure(thrown: unknown, text: (text: string) => string): unknown {
  if (!(thrown instanceof Error)) return thrown
  const cause = hiddenFailure(thrown.cause, text)
  if (text(thrown.message) === thrown.message && cause === thrown.cause && !isQuoting(thrown, text)) return thrown
  const { code, reason, remedy, retryAfter } = Failure.from(thrown)
  return new Failure(code, text(thrown.message), {
    ...(reason !== undefined && { reason }),
    ...(remedy !== undefined && { remedy: text(remedy) }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(cause instanceof Error && { cause }),
  })
}

const isQuoting = (thrown: Error, text: (text: string) => string): boolean =>
  thrown instanceof Failure && thrown.remedy !== undefined && text(thrown.remedy) !== thrown.remedy
