import { isFailure, withoutEnd } from '../std/index.ts'
import {
  atLineEnd,
  BAR,
  COLON,
  type Cursor,
  contentFrom,
  DASH,
  DEEPEST,
  DOUBLE,
  type GaveUp,
  giveUp,
  HASH,
  isBlank,
  isIndicator,
  lineEnd,
  NEWLINE,
  OPEN_LIST,
  OPEN_MAP,
  quoted,
  SINGLE,
  SPACE,
  scalar,
  skipSpaces,
  toContent,
} from './cursor.ts'
import { flow } from './plain-flow.ts'
import type { Listing, Mapping, Origin, Scalar, Tree } from './tree.ts'

/**
 * Reads what nearly all devfiles consist of: block mappings and sequences, flow collections, one-line scalars, literal texts,
 * comments, and with them all of JSON. It never says what is wrong: at anything else it gives up, and the library reads the
 * text and finds the words. It is there because it takes a tenth of the library's time.
 */
export function readPlainly(origin: Origin): Tree | GaveUp {
  const cursor: Cursor = { origin, text: origin.text, at: 0, line: 0, column: 0, depth: 0 }
  try {
    // Line ends of other systems, tabs and marks of byte order are the library's.
    if (/[\r\t\uFEFF]/.test(origin.text)) giveUp()
    return document(cursor)
  } catch (thrown) {
    if (!isFailure(thrown, 'invalid')) throw thrown
    return { at: cursor.at, tooDeep: cursor.depth > DEEPEST }
  }
}

function document(cursor: Cursor): Tree {
  contentFrom(cursor, 0)
  if (cursor.text.startsWith('---', cursor.at) && cursor.column === 0 && isBlank(cursor, cursor.at + 3)) {
    cursor.at += 3
    skipSpaces(cursor)
    if (!atLineEnd(cursor)) giveUp()
    toContent(cursor)
  }
  if (cursor.column < 0) giveUp()
  const tree = block(cursor, cursor.column, -1)
  return cursor.column < 0 ? tree : giveUp()
}

/** A node that begins here; `column` is its own, `parent` that of what holds it. */
function block(cursor: Cursor, column: number, parent: number): Tree {
  if (++cursor.depth > DEEPEST) giveUp()
  const tree = isDash(cursor) ? sequence(cursor, column) : keyHere(cursor) ? mapping(cursor, column) : onLine(cursor, parent)
  cursor.depth--
  return tree
}

function mapping(cursor: Cursor, column: number): Mapping {
  const { origin } = cursor
  const entries: Mapping['entries'] = new Map()
  const map: Mapping = { kind: 'map', origin, at: cursor.at, entries }
  do {
    const key = keyHere(cursor)
    if (!key || entries.has(key.text)) giveUp()
    else {
      const spot = { origin, at: cursor.at }
      cursor.at = key.end
      entries.set(key.text, { key: spot, value: afterKey(cursor, column) })
    }
  } while (cursor.column === column)
  return cursor.column > column ? giveUp() : map
}

function afterKey(cursor: Cursor, column: number): Tree {
  const here = cursor.at
  skipSpaces(cursor)
  if (!atLineEnd(cursor)) return onLine(cursor, column)
  toContent(cursor)
  if (cursor.column > column) {
    const hasComments = cursor.text.slice(here, cursor.at).includes('#')
    const tree = block(cursor, cursor.column, column)
    // The library refuses some of those with a comment above them.
    return hasComments && tree.kind === 'scalar' ? giveUp() : tree
  }
  // A list may stand as far left as the key that it belongs to.
  return cursor.column === column && isDash(cursor) ? sequence(cursor, column) : nothing(cursor, here)
}

function sequence(cursor: Cursor, column: number): Listing {
  const items: Tree[] = []
  const list: Listing = { kind: 'list', origin: cursor.origin, at: cursor.at, items }
  do {
    const here = cursor.at
    cursor.at++
    skipSpaces(cursor)
    if (atLineEnd(cursor)) {
      toContent(cursor)
      items.push(cursor.column > column ? block(cursor, cursor.column, column) : nothing(cursor, here))
    } else items.push(block(cursor, cursor.at - cursor.line, column))
  } while (cursor.column === column && isDash(cursor))
  return cursor.column > column ? giveUp() : list
}

const nothing = ({ origin }: Cursor, at: number): Scalar => ({ kind: 'scalar', origin, at, value: null, source: '' })

/** A value that begins on this line, and nothing but it and a comment stands there. */
function onLine(cursor: Cursor, parent: number): Tree {
  const first = cursor.text.charCodeAt(cursor.at)
  if (first === BAR) return literal(cursor, parent)
  const tree =
    first === OPEN_MAP || first === OPEN_LIST
      ? flow(cursor, parent)
      : first === DOUBLE || first === SINGLE
        ? quoted(cursor)
        : plain(cursor)
  skipSpaces(cursor)
  if (!atLineEnd(cursor)) giveUp()
  toContent(cursor)
  return cursor.column > parent ? giveUp() : tree
}

interface Key {
  text: string
  /** Behind its colon. */
  end: number
}

/** The key that begins here, if one does; the cursor stays. */
function keyHere(cursor: Cursor): Key | undefined {
  const { text, at } = cursor
  const first = text.charCodeAt(at)
  if (first === DOUBLE || first === SINGLE) {
    const { value } = quoted(cursor)
    let end = cursor.at
    cursor.at = at
    while (text.charCodeAt(end) === SPACE) end++
    return text.charCodeAt(end) === COLON && isBlank(cursor, end + 1) ? { text: String(value), end: end + 1 } : undefined
  }
  if (first === OPEN_LIST || first === OPEN_MAP || first === BAR) return undefined
  const end = colonOf(cursor, at)
  if (end < 0) return undefined
  if (isIndicator(cursor, at)) giveUp()
  let last = end
  while (text.charCodeAt(last - 1) === SPACE) last--
  return { text: text.slice(at, last), end: end + 1 }
}

/** The colon that ends a key on this line, or -1. */
function colonOf({ text }: Cursor, from: number): number {
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === NEWLINE || isComment(text, i)) return -1
    if (code === COLON) {
      const next = text.charCodeAt(i + 1)
      if (next === SPACE || next === NEWLINE || Number.isNaN(next)) return i
    }
  }
  return -1
}

const isComment = (text: string, at: number): boolean => text.charCodeAt(at) === HASH && text.charCodeAt(at - 1) === SPACE

function plain(cursor: Cursor): Scalar {
  const { text, at, origin } = cursor
  if (isIndicator(cursor, at) || colonOf(cursor, at) >= 0) giveUp()
  let end = at
  while (end < text.length && text.charCodeAt(end) !== NEWLINE && !isComment(text, end)) end++
  while (text.charCodeAt(end - 1) === SPACE) end--
  cursor.at = end
  return scalar(origin, at, text.slice(at, end))
}

/** `|`, `|-` and `|+`: the text as it stands, without its indentation. */
function literal(cursor: Cursor, parent: number): Scalar {
  const { text, at, origin } = cursor
  cursor.at++
  const chomp = text.charAt(cursor.at)
  if (chomp === '-' || chomp === '+') cursor.at++
  if (!isBlank(cursor, cursor.at)) giveUp()
  skipSpaces(cursor)
  if (!atLineEnd(cursor)) giveUp()
  const lines = literalLines(cursor, parent)
  const body = lines.join('\n')
  const kept = withoutEnd(body, '\n')
  const value = chomp === '+' ? (lines.length > 0 ? `${body}\n` : '') : chomp === '-' || kept === '' ? kept : `${kept}\n`
  return { kind: 'scalar', origin, at, value, source: value }
}

function literalLines(cursor: Cursor, parent: number): string[] {
  const { text } = cursor
  const lines: string[] = []
  let indent = -1
  let from = lineEnd(text, cursor.at) + 1
  while (from < text.length) {
    let content = from
    while (text.charCodeAt(content) === SPACE) content++
    const end = lineEnd(text, from)
    const isEmpty = content >= end
    if (!isEmpty && indent < 0) indent = content - from
    // Blanks beyond the indentation are text; whether those here are depends on lines not yet seen.
    if (isEmpty && content - from > Math.max(indent, parent)) giveUp()
    if (!isEmpty && (content - from < indent || indent <= parent)) break
    lines.push(isEmpty ? '' : text.slice(from + indent, end))
    from = end + 1
  }
  contentFrom(cursor, Math.min(from, text.length))
  return cursor.column > parent ? giveUp() : lines
}

const isDash = (cursor: Cursor): boolean => cursor.text.charCodeAt(cursor.at) === DASH && isBlank(cursor, cursor.at + 1)
