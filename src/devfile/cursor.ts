import { Failure } from '../std/index.ts'
import type { Origin, Scalar } from './tree.ts'

/** Where the reader gave up: something other than plain YAML stands there. */
export interface GaveUp {
  at: number
  tooDeep: boolean
}

/** How far a text has been read. */
export interface Cursor {
  readonly origin: Origin
  readonly text: string
  at: number
  /** Where the line begins, and the column of its content; -1 at the end of the text. */
  line: number
  column: number
  depth: number
}

/** No honest devfile is deeper than this. */
export const DEEPEST = 64

/** Never says why: what is not plain YAML is for the library to read, or to name. */
export function giveUp(): never {
  throw new Failure('invalid', 'not plain YAML')
}

export const NEWLINE = 10
export const SPACE = 32
export const DOUBLE = 34
export const HASH = 35
export const SINGLE = 39
export const COMMA = 44
export const DASH = 45
export const COLON = 58
export const OPEN_LIST = 91
export const BACKSLASH = 92
export const CLOSE_LIST = 93
export const BAR = 124
export const OPEN_MAP = 123
export const CLOSE_MAP = 125

export function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

export function isBlank({ text }: Cursor, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === SPACE || code === NEWLINE || Number.isNaN(code)
}

export function skipSpaces(cursor: Cursor): void {
  while (cursor.text.charCodeAt(cursor.at) === SPACE) cursor.at++
}

/** Only a comment, or nothing, is left of this line. */
export function atLineEnd({ text, at }: Cursor): boolean {
  const code = text.charCodeAt(at)
  return code === NEWLINE || Number.isNaN(code) || (code === HASH && text.charCodeAt(at - 1) === SPACE)
}

export const toContent = (cursor: Cursor): void => contentFrom(cursor, lineEnd(cursor.text, cursor.at) + 1)

/** To the first character, from this line on, that is neither blank nor comment. */
export function contentFrom(cursor: Cursor, line: number): void {
  const { text } = cursor
  let from = line
  while (from < text.length) {
    let at = from
    while (text.charCodeAt(at) === SPACE) at++
    const code = text.charCodeAt(at)
    if (code !== NEWLINE && code !== HASH && at < text.length) {
      cursor.line = from
      cursor.at = at
      cursor.column = at - from
      return
    }
    from = lineEnd(text, at) + 1
  }
  cursor.at = text.length
  cursor.column = -1
}

/** What begins with one of these is no plain scalar, or not one of ours. */
export function isIndicator(cursor: Cursor, at: number): boolean {
  const first = cursor.text.charAt(at)
  return '-?:'.includes(first) ? isBlank(cursor, at + 1) : '&*!|>%@`,]}#[{"\''.includes(first)
}

/** A scalar between quotes, on one line. */
export function quoted(cursor: Cursor): Scalar {
  const { text, at, origin } = cursor
  const mark = text.charCodeAt(at)
  let escaped = false
  for (let i = at + 1; ; i++) {
    const code = text.charCodeAt(i)
    if (code === NEWLINE || Number.isNaN(code)) giveUp()
    if (code === BACKSLASH && mark === DOUBLE) {
      escaped = true
      i++
      // A line that goes on behind a backslash is the library's.
      if (text.charCodeAt(i) === NEWLINE) giveUp()
    } else if (code === mark) {
      if (mark === SINGLE && text.charCodeAt(i + 1) === SINGLE) {
        escaped = true
        i++
        continue
      }
      cursor.at = i + 1
      const inner = text.slice(at + 1, i)
      const value = escaped ? (mark === SINGLE ? inner.replaceAll("''", "'") : unescaped(inner)) : inner
      return { kind: 'scalar', origin, at, value, source: value }
    }
  }
}

/** JSON's escapes are YAML's too; those that only YAML has are the library's. */
const unescaped = (inner: string): string =>
  inner.replace(/\\(u[0-9a-fA-F]{4}|.)/g, (_, code: string) => {
    if (code.length > 1) return String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return Object.hasOwn(ESCAPES, code) ? (ESCAPES[code] ?? '') : giveUp()
  })

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

const NUMBER = /^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)$/
const WORDS: Readonly<Record<string, boolean | null | number>> = {
  '~': null,
  null: null,
  Null: null,
  NULL: null,
  true: true,
  True: true,
  TRUE: true,
  false: false,
  False: false,
  FALSE: false,
  '.inf': Number.POSITIVE_INFINITY,
  '.Inf': Number.POSITIVE_INFINITY,
  '.INF': Number.POSITIVE_INFINITY,
  '+.inf': Number.POSITIVE_INFINITY,
  '-.inf': Number.NEGATIVE_INFINITY,
  '-.Inf': Number.NEGATIVE_INFINITY,
  '-.INF': Number.NEGATIVE_INFINITY,
  '.nan': Number.NaN,
  '.NaN': Number.NaN,
  '.NAN': Number.NaN,
}

/** The core schema of YAML 1.2. */
export function scalar(origin: Origin, at: number, source: string): Scalar {
  if (Object.hasOwn(WORDS, source)) return { kind: 'scalar', origin, at, value: WORDS[source] ?? null, source }
  const value = NUMBER.test(source) ? Number(source) : source
  return { kind: 'scalar', origin, at, value, source }
}
