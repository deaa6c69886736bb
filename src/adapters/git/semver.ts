import { setImmediate as breathe } from 'node:timers/promises'
import type Comparator from 'semver/classes/comparator.js'
import SemverRange from 'semver/classes/range.js'
import type Version from 'semver/classes/semver.js'
import parse from 'semver/functions/parse.js'
import { Failure } from '../../std/index.ts'

/** Says whether a version lies in a range. */
export type Range = (version: Version) => boolean

/** An operator, and either a whole version or one of which places are wild or missing. Only the former speaks of pre-releases. */
const TERM =
  /^(!=|=>|=<|[<>]=?|~>?|[=^])?v?(\d+\.\d+\.\d+(-[\dA-Za-z.-]+)?|(?:\d+|[xX*])(?:\.(?:\d+|[xX*])){0,2})(?:\+[\dA-Za-z.-]+)?$/
/** node-semver spells these in another way; `!=` it does not know at all. */
const SPELLINGS: Record<string, string> = { '=>': '>=', '=<': '<=', '!=': '' }
/** Tenants write ranges, and each is held against every tag: of all alternatives together. */
const MOST_TERMS = 32
/** So many tags are looked at in a few milliseconds, whatever they and the range are; then others have their turn. */
const TAGS = 500
/** The CRD has the same limit; the wire has none. */
const LONGEST = 256

/** The version that a tag names, with or without a `v`; all three numbers must be there. */
export const versionOf = (tag: string): Version | undefined => parse(tag) ?? undefined

/** The tag with the highest version in the range. Of two spellings of one version the later in the alphabet is taken. */
export async function highestTag(tags: readonly string[], range: Range): Promise<string | undefined> {
  let best: { tag: string; version: Version } | undefined
  for (const [at, tag] of tags.entries()) {
    if (at % TAGS === TAGS - 1) await breathe()
    const version = versionOf(tag)
    if (!version) continue
    const order = best ? version.compare(best.version) || (tag > best.tag ? 1 : -1) : 1
    if (order > 0 && range(version)) best = { tag, version }
  }
  return best?.tag
}

/**
 * Reads `>=1.2.0 <2.0.0`, `1.x`, `~1.2`, `^1.2.3`, `1.2 - 1.4`, `1.x || 3.x`; a blank and a comma both mean "and".
 * A pre-release is in a range only if each condition of an alternative speaks of pre-releases itself: `>=1.0.0-0`.
 */
export function parseRange(text: string): Range {
  if (text.length > LONGEST) throw unreadable(text)
  const alternatives = text.split('||').map((alternative) => alternativeOf(alternative.trim(), text))
  if (alternatives.flat().length > MOST_TERMS) throw mistaken(text, `has more than ${MOST_TERMS} conditions`)
  return (version) =>
    alternatives.some((terms) => terms.every(({ pre, holds }) => (pre || version.prerelease.length === 0) && holds(version)))
}

interface Term {
  /** It speaks of pre-releases. */
  pre: boolean
  holds: Range
}

function alternativeOf(alternative: string, whole: string): Term[] {
  const [, from, to] = /^(\S+)\s+-\s+(\S+)$/.exec(alternative) ?? []
  const written = from && to ? [`>=${from}`, `<=${to}`] : wordsOf(alternative)
  if (written.length === 0) throw unreadable(whole)
  return written.map((term) => termOf(term, whole))
}

/** An operator may stand apart from its version. */
const wordsOf = (alternative: string): string[] =>
  alternative
    .replaceAll(/([<>=~^!])\s+(?=[\dvxX*])/g, '$1')
    .split(/[\s,]+/)
    .filter(Boolean)

function termOf(written: string, whole: string): Term {
  const [match, operator = '', version = '', pre] = TERM.exec(written) ?? []
  if (match === undefined) throw unreadable(whole)
  // What stands behind a wildcard says nothing.
  const places = pre === undefined ? version.replace(/[xX*].*/s, 'x') : version
  const comparators = comparatorsOf(`${SPELLINGS[operator] ?? operator}${places}`, whole)
  const isWithin: Range = (one) => comparators.every((comparator) => comparator.test(one))
  return { pre: pre !== undefined, holds: operator === '!=' ? (one) => !isWithin(one) : isWithin }
}

/** They are asked here: asked as a whole, node-semver's range lets pre-releases in by a rule of its own. */
function comparatorsOf(term: string, whole: string): readonly Comparator[] {
  try {
    return new SemverRange(term).set.flat()
  } catch (thrown) {
    throw unreadable(whole, thrown)
  }
}

const unreadable = (whole: string, cause?: unknown) => mistaken(whole, 'is not a range of versions', cause)

const mistaken = (whole: string, what: string, cause?: unknown) =>
  new Failure('invalid', `${JSON.stringify(whole.slice(0, 80))} ${what}`, {
    reason: 'RefInvalid',
    remedy: 'Write it like ">=1.2.0 <2.0.0", "~1.2", "^1.2.3" or "1.x".',
    cause,
  })
