import { Failure } from '../../std/index.ts'

/** A pattern of paths: `*`, `?`, `[a-z]`, `{a,b}`, `\` and, as a whole part, `**` for any number of folders. */
export interface Glob {
  readonly text: string
  /** The folder in which everything that can match lies; empty for the root. */
  readonly folder: string
  /** Whether it can match below the folder's own files. */
  readonly recursive: boolean
  /** Whether it means everything below its folder. */
  readonly whole: boolean
  matches(path: string): boolean
}

type Token = { star: true } | { star: false; accepts: (char: string) => boolean }
type Part = 'folders' | readonly Token[]

const LONGEST = 512
const MOST_ALTERNATIVES = 128

/**
 * Patterns come from tenants, so matching takes time proportional to pattern × path, whatever they write:
 * a translation to regular expressions would let five stars stop the server for half a minute.
 */
export function parseGlob(text: string): Glob {
  const relative = text.replace(/^\//, '')
  if (relative === '') throw invalid(text, 'is empty')
  if (relative.length > LONGEST) throw invalid(`${text.slice(0, 40)}…`, `is longer than ${LONGEST} characters`)
  const alternatives = expand(relative, text).map((one) => one.split('/').map((part) => partOf(part, text)))
  const folder = constantFolder(relative)
  const rest = folder === '' ? relative : relative.slice(folder.length + 1)
  return {
    text,
    folder,
    recursive: /[[/]|\*\*/.test(rest),
    whole: rest === '**',
    matches: (path) => alternatives.some((parts) => matchesParts(parts, path.split('/'))),
  }
}

const invalid = (text: string, why: string) =>
  new Failure('invalid', `path pattern ${JSON.stringify(text)} ${why}`, { reason: 'GlobInvalid', remedy: 'Correct the pattern.' })

/** What stands before the first special character, up to the last slash in it. */
function constantFolder(pattern: string): string {
  const special = pattern.search(/[*?[{\\]/)
  const constant = special < 0 ? pattern : pattern.slice(0, special)
  return constant.slice(0, Math.max(0, constant.lastIndexOf('/')))
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
  if (part === '**') return 'folders'
  const tokens: Token[] = []
  const chars = [...part]
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? ''
    if (char === '*') tokens.push({ star: true })
    else if (char === '?') tokens.push({ star: false, accepts: () => true })
    else if (char === '[') {
      const end = endOfClass(chars, at, whole)
      tokens.push({ star: false, accepts: classOf(chars.slice(at + 1, end)) })
      at = end
    } else {
      const literal = char === '\\' ? chars[++at] : char
      if (literal === undefined) throw invalid(whole, 'ends with a backslash')
      tokens.push({ star: false, accepts: (other) => other === literal })
    }
  }
  return tokens
}

function classOf(chars: string[]): (char: string) => boolean {
  const negated = chars[0] === '^' || chars[0] === '!'
  const ranges: [string, string][] = []
  for (let at = negated ? 1 : 0; at < chars.length; at++) {
    if (chars[at] === '\\') at++
    const low = chars[at] ?? ''
    const high = chars[at + 1] === '-' && at + 2 < chars.length ? chars[at + 2] : undefined
    ranges.push([low, high ?? low])
    if (high !== undefined) at += 2
  }
  return (char) => ranges.some(([low, high]) => low <= char && char <= high) !== negated
}

/** Row by row: which beginnings of the path the pattern's parts so far can stand for. */
function matchesParts(parts: readonly Part[], path: readonly string[]): boolean {
  let reached = [true, ...path.map(() => false)]
  for (const part of parts) {
    const next = reached.map(() => false)
    for (let at = 0; at <= path.length; at++) {
      if (part === 'folders') next[at] = reached[at] === true || (at > 0 && next[at - 1] === true)
      else if (at > 0) next[at] = reached[at - 1] === true && matchesName(part, [...(path[at - 1] ?? '')])
    }
    reached = next
  }
  return reached[path.length] === true
}

/** On a mismatch the last star takes one more character; earlier stars need never be tried again. */
function matchesName(tokens: readonly Token[], name: readonly string[]): boolean {
  let at = 0
  let token = 0
  let star = -1
  let mark = 0
  while (at < name.length) {
    const current = tokens[token]
    if (current?.star) {
      star = token++
      mark = at
    } else if (current?.accepts(name[at] ?? '')) {
      token++
      at++
    } else if (star >= 0) {
      token = star + 1
      at = ++mark
    } else return false
  }
  return tokens.slice(token).every((rest) => rest.star)
}
