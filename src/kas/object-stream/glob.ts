import { Failure } from '../../std/index.ts'
import type { Effort } from '../projects/tree.ts'

/** A pattern of paths: `*`, `?`, `[a-z]`, `{a,b}`, `\` and, as a whole part, `**` for any number of folders. */
export interface Glob {
  readonly text: string
  /** The folder in which everything that can match lies; empty for the root. */
  readonly folder: string
  /** It can match below the folder's own files. */
  readonly recursive: boolean
  /** It means everything below its folder. */
  readonly whole: boolean
  /** Characters of all patterns without braces that it stands for: what it takes to hold it against one path, at least. */
  readonly length: number
  /** Made for each use: it takes a hundred times as much memory as the text. */
  compile(effort?: Effort): Matches
}

export type Matches = (path: string, effort: Effort) => boolean

const STAR = Symbol('*')
const ANY = Symbol('?')
/** Of a name: one character itself, or what stands for one or more. */
type Token = string | typeof STAR | typeof ANY | Class
/** Of a path: a name, a pattern of names, or any number of folders. */
type Part = string | typeof FOLDERS | readonly Token[]
const FOLDERS = Symbol('**')

interface Class {
  negated: boolean
  ranges: readonly (readonly [low: string, high: string])[]
}

const LONGEST = 512
const MOST_ALTERNATIVES = 128

/**
 * Patterns come from tenants, so matching takes time proportional to pattern × path, whatever they write:
 * a translation to regular expressions would let five stars stop the server for half a minute.
 */
export function parseGlob(text: string, parsing: Effort = { steps: 0 }): Glob {
  const relative = text.replace(/^\//, '')
  if (relative === '') throw invalid(text, 'is empty')
  if (relative.length > LONGEST) throw invalid(`${text.slice(0, 40)}…`, `is longer than ${LONGEST} characters`)
  const compiled = (effort: Effort) => {
    const { steps } = effort
    // Until it is known how much it is, it may be the most.
    effort.steps = steps + STEPS_OF_CHARACTER * LONGEST * MOST_ALTERNATIVES
    const expanded = expand(relative, text)
    // Of what is written, not of what becomes of it: five hundred stars in a row are one, and each of them is read.
    effort.steps = steps + STEPS_OF_CHARACTER * expanded.reduce((sum, one) => sum + 1 + one.length, 0)
    return expanded.map((one) => one.split('/').map((part) => partOf(part, text)))
  }
  const { folder, rest } = splitFolder(relative)
  return {
    text,
    folder,
    recursive: /[[/]|\*\*/.test(rest),
    whole: rest === '**',
    length: lengthOf(compiled(parsing)),
    compile(compiling = { steps: 0 }) {
      const alternatives = compiled(compiling)
      return (path, effort) => {
        const names = path.split('/')
        return alternatives.some((parts) => matchesParts(parts, names, effort))
      }
    },
  }
}

/** To compile a pattern, or to find out that it is none. */
const STEPS_OF_CHARACTER = 12

const lengthOf = (alternatives: readonly (readonly Part[])[]): number =>
  alternatives.flat().reduce((sum, part) => sum + 1 + lengthOfPart(part), 0)

function lengthOfPart(part: Part): number {
  if (part === FOLDERS) return 1
  return typeof part === 'string' ? part.length : part.reduce((sum, token) => sum + stepsOf(token), 0)
}

const invalid = (text: string, why: string) =>
  new Failure('invalid', `path pattern ${JSON.stringify(text)} ${why}`, { reason: 'GlobInvalid', remedy: 'Correct the pattern.' })

/** The names before the first that has a special character, and what stands behind them. */
function splitFolder(pattern: string): { folder: string; rest: string } {
  const names = pattern.split('/')
  const special = names.findIndex((name) => /[*?[{]/.test(name.replaceAll(/\\./gs, '')))
  const count = special < 0 ? names.length - 1 : special
  return { folder: names.slice(0, count).join('/').replaceAll(/\\(.)/gs, '$1'), rest: names.slice(count).join('/') }
}

/** `a{b,c{d,e}}` → `ab`, `acd`, `ace`. Braces within a class or behind a backslash are themselves. */
function expand(pattern: string, whole: string): string[] {
  const brace = firstBrace(pattern, whole)
  if (!brace) return [pattern]
  const { start, end, choices } = brace
  const tails = expand(pattern.slice(end + 1), whole)
  const all = choices
    .flatMap((choice) => expand(choice, whole))
    .flatMap((middle) => tails.map((tail) => pattern.slice(0, start) + middle + tail))
  if (all.length > MOST_ALTERNATIVES) throw invalid(whole, `stands for more than ${MOST_ALTERNATIVES} patterns`)
  return all
}

function firstBrace(pattern: string, whole: string): { start: number; end: number; choices: string[] } | undefined {
  const choices: string[] = []
  let start = -1
  let from = 0
  let depth = 0
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]
    if (char === '\\') at++
    else if (char === '[') at = endOfClass(pattern, at, whole)
    else if (char === '{') {
      if (depth++ === 0) [start, from] = [at, at + 1]
    } else if (char === ',' && depth === 1) {
      choices.push(pattern.slice(from, at))
      from = at + 1
    } else if (char === '}' && depth > 0 && --depth === 0) {
      return { start, end: at, choices: [...choices, pattern.slice(from, at)] }
    }
  }
  if (depth > 0) throw invalid(whole, 'has a { without its }')
  return undefined
}

function endOfClass(pattern: ArrayLike<string>, start: number, whole: string): number {
  for (let at = start + 1; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++
    else if (pattern[at] === ']' && at > start + 1) return at
  }
  throw invalid(whole, 'has a [ without its ]')
}

function partOf(part: string, whole: string): Part {
  if (part === '**') return FOLDERS
  const tokens: Token[] = []
  const chars = [...part]
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? ''
    if (char === '*') {
      // Two of them mean what one does.
      if (tokens.at(-1) !== STAR) tokens.push(STAR)
    } else if (char === '?') tokens.push(ANY)
    else if (char === '[') {
      const end = endOfClass(chars, at, whole)
      tokens.push(classOf(chars.slice(at + 1, end)))
      at = end
    } else {
      const literal = char === '\\' ? chars[++at] : char
      if (literal === undefined) throw invalid(whole, 'ends with a backslash')
      tokens.push(literal)
    }
  }
  return tokens.every((token) => typeof token === 'string') ? tokens.join('') : tokens
}

function classOf(chars: string[]): Class {
  const negated = chars[0] === '^' || chars[0] === '!'
  const ranges: [string, string][] = []
  for (let at = negated ? 1 : 0; at < chars.length; at++) {
    if (chars[at] === '\\') at++
    const low = chars[at] ?? ''
    const high = chars[at + 1] === '-' && at + 2 < chars.length ? chars[at + 2] : undefined
    ranges.push([low, high ?? low])
    if (high !== undefined) at += 2
  }
  return { negated, ranges }
}

/** Row by row: which beginnings of the path the pattern's parts so far can stand for. */
function matchesParts(parts: readonly Part[], names: readonly string[], effort: Effort): boolean {
  let reached = [true, ...names.map(() => false)]
  for (const part of parts) {
    const next = reached.map(() => false)
    effort.steps += reached.length
    for (let at = 0; at <= names.length; at++) {
      if (part === FOLDERS) next[at] = reached[at] === true || (at > 0 && next[at - 1] === true)
      else if (at > 0) next[at] = reached[at - 1] === true && matchesName(part, names[at - 1] ?? '', effort)
    }
    reached = next
  }
  return reached[names.length] === true
}

/** On a mismatch the last star takes one more character; earlier stars need never be tried again. */
function matchesName(pattern: string | readonly Token[], text: string, effort: Effort): boolean {
  if (typeof pattern === 'string') return pattern === text
  const name = [...text]
  effort.steps += name.length
  let at = 0
  let token = 0
  let star = -1
  let mark = 0
  while (at < name.length) {
    const current = pattern[token]
    effort.steps += stepsOf(current)
    if (current === STAR) {
      star = token++
      mark = at
    } else if (current !== undefined && accepts(current, name[at] ?? '')) {
      token++
      at++
    } else if (star >= 0) {
      token = star + 1
      at = ++mark
    } else return false
  }
  return token === pattern.length || (token === pattern.length - 1 && pattern[token] === STAR)
}

const stepsOf = (token: Token | undefined): number => (typeof token === 'object' ? 1 + token.ranges.length : 1)

const accepts = (token: string | typeof ANY | Class, char: string): boolean =>
  typeof token === 'object'
    ? token.ranges.some(([low, high]) => low <= char && char <= high) !== token.negated
    : token === ANY || token === char
