import { Failure, isRecord } from '../../../std/index.ts'
import { type Cut, createFinder, type TextRange } from './finder.ts'

const MASK = '***'

/** A value as it may be shown: wherever one of the hidden texts stands in it, `***` stands. */
export interface Hiding {
  /** Of sentences. A hidden text of fewer than four characters is masked where it stands alone: else it would eat the words. */
  text(text: string): string
  /** The same value where nothing in it is secret. */
  value(value: unknown): unknown
  /** The same failure, in other words where they were secret, down to its causes. */
  failure(thrown: unknown): unknown
}

/** Texts of at least so many characters are looked for within words as well. */
const LONG = 4

/** So many texts are looked for, with so many characters; where there are more, of nothing is anything shown. */
const MOST = 2000
const MOST_CHARACTERS = 2 ** 19

/** For values that came from Secrets and were put into other objects: nothing about those objects tells that they are secret. */
export function hiding(hidden: ReadonlySet<string> = new Set()): Hiding {
  const secrets = without('', hidden)
  if (secrets.length === 0) return NOTHING_HIDDEN
  if (isTooMuch(secrets)) return ALL_HIDDEN
  const written = without('', new Set(secrets.flatMap(spellingsOf)))
  if (isTooMuch(written)) return ALL_HIDDEN
  const short = new Set(written.filter(({ length }) => length < LONG))
  const inTexts = madeOnce(() => createFinder(written.filter(({ length }) => length >= LONG)))
  const inValues = madeOnce(() => createFinder(secrets))
  const numbers = new Set(secrets.map(Number))
  const words = new Set(secrets.map((secret) => secret.toLowerCase()))

  const text = (given: string): string => {
    const whole = masked(given, inTexts().find(given, cutOf(given)))
    return short.size === 0 ? whole : withoutShort(whole, short)
  }
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return masked(given, inValues().find(given))
    // A variable that is a whole field takes the type that YAML gives it.
    if (typeof given === 'number') return numbers.has(given) ? MASK : given
    if (typeof given === 'boolean') return words.has(String(given)) ? MASK : given
    if (Array.isArray(given)) {
      const shown = given.map(value)
      return shown.some((inner, at) => !Object.is(inner, given[at])) ? shown : given
    }
    if (!isRecord(given)) return given
    const shown = Object.entries(given).map(([key, inner]): [string, unknown] => [key, value(inner)])
    return shown.some(([key, inner]) => !Object.is(inner, given[key])) ? Object.fromEntries(shown) : given
  }
  return { text, value, failure: (thrown) => hiddenFailure(thrown, text) }
}

const NOTHING_HIDDEN: Hiding = { text: (text) => text, value: (value) => value, failure: (thrown) => thrown }
const ALL_HIDDEN: Hiding = { text: () => MASK, value: () => MASK, failure: (thrown) => hiddenFailure(thrown, () => MASK) }

const WORD = /[\p{L}\p{N}_]+/gu

const without = (text: string, texts: ReadonlySet<string>): string[] => [...texts].filter((other) => other !== text)

const isTooMuch = (texts: readonly string[]): boolean =>
  texts.length > MOST || texts.reduce((sum, { length }) => sum + length, 0) > MOST_CHARACTERS

/** It takes 70 ms to make a finder for half a megabyte, and often there is nothing to search. */
function madeOnce<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** As it is, without the line break at its end, as API servers quote it, and line by line. */
function spellingsOf(secret: string): string[] {
  const lines = secret
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line.length >= LONG)
  return [secret, secret.trim(), JSON.stringify(secret).slice(1, -1), JSON.stringify(secret.trim()).slice(1, -1), ...lines]
}

function masked(text: string, ranges: readonly TextRange[]): string {
  if (ranges.length === 0) return text
  let shown = ''
  let at = 0
  for (const [from, to] of ranges) {
    shown += text.slice(at, from) + MASK
    at = to
  }
  return shown + text.slice(at)
}

/** A text that was shortened before may end in the beginning of a secret. */
function cutOf(text: string): Cut | undefined {
  const dots = CUT.find((end) => text.endsWith(end))
  return dots === undefined ? undefined : { at: text.length - dots.length, least: LONG }
}

const CUT = ['…', '...']

/** The rest of a word beside a mask may itself be a secret that was to be masked. */
const withoutShort = (text: string, short: ReadonlySet<string>): string =>
  text.replace(WORD, (word: string, at: number) => {
    const isLeft = text.endsWith(MASK, at) || text.startsWith(MASK, at + word.length)
    return short.has(word) || (isLeft && word.length < LONG) ? MASK : word
  })

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
