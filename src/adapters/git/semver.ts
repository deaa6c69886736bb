import { Failure } from '../../std/index.ts'

/** A version as semver.org has it; what follows a `+` says nothing of the order. */
export interface Version {
  /** Major, minor, patch. */
  readonly numbers: readonly number[]
  /** The parts behind the `-`; none for a release. */
  readonly pre: readonly string[]
}

/** Whether a version lies in a range. */
export type Range = (version: Version) => boolean

const NUMBER = '(0|[1-9]\\d{0,14})'
const REST = '(?:-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(?:\\+[0-9A-Za-z.-]+)?'
const VERSION = new RegExp(`^v?${NUMBER}\\.${NUMBER}\\.${NUMBER}${REST}$`)
const PLACE = NUMBER.replace(')', '|[xX*])')
const LIMIT = new RegExp(`^v?${PLACE}(?:\\.${PLACE})?(?:\\.${PLACE})?${REST}$`)
const TERM = /^(<=|=<|>=|=>|!=|~>|[<>=~^]?)(.+)$/
/** Tenants write ranges, and each is held against every tag. */
const MOST_TERMS = 32

/** The version that a tag names, with or without a `v`; all three numbers must be there. */
export function versionOf(tag: string): Version | undefined {
  const [whole, major, minor, patch, pre] = VERSION.exec(tag) ?? []
  if (whole === undefined) return undefined
  return { numbers: [Number(major), Number(minor), Number(patch)], pre: pre?.split('.') ?? [] }
}

/** Below zero: `a` is the lower one. A release comes after its pre-releases. */
export function compareVersions(a: Version, b: Version): number {
  for (const [at, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[at] ?? 0)
    if (difference !== 0) return difference
  }
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length
  for (const [at, part] of a.pre.entries()) {
    const other = b.pre[at]
    if (other === undefined) return 1
    const difference = comparePre(part, other)
    if (difference !== 0) return difference
  }
  return a.pre.length - b.pre.length
}

function comparePre(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (isNumber && isOtherNumber) return a.length - b.length || compareText(a, b)
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return compareText(a, b)
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The tag with the highest version in the range. Of two spellings of one version the later in the alphabet is taken. */
export function highestTag(tags: Iterable<string>, range: Range): string | undefined {
  let best: { tag: string; version: Version } | undefined
  for (const tag of tags) {
    const version = versionOf(tag)
    if (!version || !range(version)) continue
    const order = best ? compareVersions(version, best.version) || compareText(tag, best.tag) : 1
    if (order > 0) best = { tag, version }
  }
  return best?.tag
}

/**
 * Reads `>=1.2.0 <2.0.0`, `1.x`, `~1.2`, `^1.2.3`, `1.2 - 1.4`, `1.x || 3.x`; a blank and a comma both mean "and".
 * A pre-release is in a range only if each condition of an alternative speaks of pre-releases itself: `>=1.0.0-0`.
 */
export function parseRange(text: string): Range {
  const alternatives = text.split('||').map((alternative) => alternativeOf(alternative.trim(), text))
  return (version) =>
    alternatives.some((terms) => terms.every(({ pre, holds }) => (pre || version.pre.length === 0) && holds(version)))
}

interface Term {
  /** Whether it speaks of pre-releases. */
  pre: boolean
  holds: Range
}

function alternativeOf(alternative: string, whole: string): Term[] {
  const [, from, to] = /^(\S+)\s+-\s+(\S+)$/.exec(alternative) ?? []
  const written = from && to ? [`>=${from}`, `<=${to}`] : wordsOf(alternative)
  if (written.length === 0 || written.length > MOST_TERMS) throw unreadable(whole)
  return written.map((term) => termOf(term, whole))
}

/** An operator may stand apart from its version. */
const wordsOf = (alternative: string): string[] =>
  alternative
    .replaceAll(/([<>=~^!])\s+(?=[\dvxX*])/g, '$1')
    .split(/[\s,]+/)
    .filter(Boolean)

function termOf(written: string, whole: string): Term {
  const [, operator = '', rest = ''] = TERM.exec(written) ?? []
  const [match, major, minor, patch, pre] = LIMIT.exec(rest) ?? []
  if (match === undefined) throw unreadable(whole)
  const places = [major, minor, patch]
  const wild = places.findIndex((place) => place === undefined || /[xX*]/.test(place))
  const known = wild < 0 ? 3 : wild
  if (pre !== undefined && known < 3) throw unreadable(whole)
  const numbers = places.map((place, at) => (at < known ? Number(place) : 0))
  return { pre: pre !== undefined, holds: conditionOf(operator, { numbers, pre: pre?.split('.') ?? [] }, known) }
}

const ALWAYS: Range = () => true
const NEVER: Range = () => false

/** `known` of the three numbers were written; the others may be anything. */
function conditionOf(operator: string, low: Version, known: number): Range {
  const from: Range = (version) => compareVersions(version, low) >= 0
  const below = (place: number): Range => {
    const end = bumped(low, place)
    return (version) => compareVersions(version, end) < 0
  }
  const within = (place: number): Range => (known === 0 ? ALWAYS : both(from, below(place)))
  const same: Range = known === 3 ? (version) => compareVersions(version, low) === 0 : within(known - 1)
  switch (operator) {
    case '>':
      if (known === 0) return NEVER
      return known === 3 ? (version) => compareVersions(version, low) > 0 : not(below(known - 1))
    case '<':
      return not(from)
    case '>=':
    case '=>':
      return from
    case '<=':
    case '=<':
      if (known === 0) return ALWAYS
      return known === 3 ? (version) => compareVersions(version, low) <= 0 : below(known - 1)
    case '!=':
      return not(same)
    case '~':
    case '~>':
      return within(Math.min(1, known - 1))
    case '^':
      return within(firstThatCounts(low.numbers, known))
    default:
      return same
  }
}

const both =
  (one: Range, other: Range): Range =>
  (version) =>
    one(version) && other(version)

const not =
  (range: Range): Range =>
  (version) =>
    !range(version)

/** Of `0.2.3` it is the 2: before 1.0 each number counts for one more. */
function firstThatCounts(numbers: readonly number[], known: number): number {
  const first = numbers.slice(0, known).findIndex((number) => number > 0)
  return first < 0 ? known - 1 : first
}

/** The lowest version, pre-releases included, with a higher number at that place. */
const bumped = ({ numbers }: Version, place: number): Version => ({
  numbers: numbers.map((number, at) => (at < place ? number : at === place ? number + 1 : 0)),
  pre: ['0'],
})

const unreadable = (whole: string) =>
  new Failure('invalid', `${JSON.stringify(whole.slice(0, 80))} is not a range of versions`, {
    reason: 'RefInvalid',
    remedy: 'Write it like ">=1.2.0 <2.0.0", "~1.2", "^1.2.3" or "1.x".',
  })
