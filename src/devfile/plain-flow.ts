import {
  CLOSE_LIST,
  CLOSE_MAP,
  COLON,
  COMMA,
  type Cursor,
  DEEPEST,
  DOUBLE,
  giveUp,
  HASH,
  isBlank,
  isIndicator,
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
import type { Listing, Mapping, Scalar, Tree } from './tree.ts'

/** A flow collection, or what stands in one. Its lines are indented further than `parent`. */
export function flow(cursor: Cursor, parent: number): Tree {
  if (++cursor.depth > DEEPEST) giveUp()
  const first = cursor.text.charCodeAt(cursor.at)
  const tree =
    first === OPEN_MAP
      ? flowMapping(cursor, parent)
      : first === OPEN_LIST
        ? flowSequence(cursor, parent)
        : first === DOUBLE || first === SINGLE
          ? quoted(cursor)
          : flowPlain(cursor)
  cursor.depth--
  return tree
}

function flowSequence(cursor: Cursor, parent: number): Listing {
  const items: Tree[] = []
  const list: Listing = { kind: 'list', origin: cursor.origin, at: cursor.at, items }
  cursor.at++
  while (inFlow(cursor, parent) !== CLOSE_LIST) {
    items.push(flow(cursor, parent))
    const next = inFlow(cursor, parent)
    if (next === COMMA) cursor.at++
    else if (next !== CLOSE_LIST) giveUp()
  }
  cursor.at++
  return list
}

function flowMapping(cursor: Cursor, parent: number): Mapping {
  const { origin, text } = cursor
  const entries: Mapping['entries'] = new Map()
  const map: Mapping = { kind: 'map', origin, at: cursor.at, entries }
  cursor.at++
  while (inFlow(cursor, parent) !== CLOSE_MAP) {
    const key = { origin, at: cursor.at }
    const code = text.charCodeAt(cursor.at)
    const isQuoted = code === DOUBLE || code === SINGLE
    const name = isQuoted ? quoted(cursor).source : flowPlain(cursor).source
    if (inFlow(cursor, parent) !== COLON || entries.has(name)) giveUp()
    cursor.at++
    // `a:b` is a scalar, `"a":b` is a key and its value.
    if (!isQuoted && !isBlank(cursor, cursor.at)) giveUp()
    const next = inFlow(cursor, parent)
    const value =
      next === COMMA || next === CLOSE_MAP
        ? { kind: 'scalar' as const, origin, at: cursor.at, value: null, source: '' }
        : flow(cursor, parent)
    entries.set(name, { key, value })
    const after = inFlow(cursor, parent)
    if (after === COMMA) cursor.at++
    else if (after !== CLOSE_MAP) giveUp()
  }
  cursor.at++
  return map
}

function flowPlain(cursor: Cursor): Scalar {
  const { text, at, origin } = cursor
  // `[-]` and `[?]` are not what they look like.
  if (isIndicator(cursor, at) || (/[-?:]/.test(text.charAt(at)) && endsKey(text.charCodeAt(at + 1)))) giveUp()
  let end = at
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code === NEWLINE || code === COMMA || code === CLOSE_LIST || code === CLOSE_MAP) break
    if (code === OPEN_LIST || code === OPEN_MAP) giveUp()
    if (code === HASH && text.charCodeAt(end - 1) === SPACE) break
    if (code === COLON && endsKey(text.charCodeAt(end + 1))) break
  }
  while (text.charCodeAt(end - 1) === SPACE) end--
  if (end === at) giveUp()
  cursor.at = end
  return scalar(origin, at, text.slice(at, end))
}

const endsKey = (code: number): boolean =>
  code === SPACE || code === NEWLINE || code === COMMA || code === CLOSE_LIST || code === CLOSE_MAP || Number.isNaN(code)

/** Over blanks, comments and line ends to the next character of a flow collection. */
function inFlow(cursor: Cursor, parent: number): number {
  while (true) {
    skipSpaces(cursor)
    const code = cursor.text.charCodeAt(cursor.at)
    if (Number.isNaN(code)) giveUp()
    const isComment = code === HASH && isBlank(cursor, cursor.at - 1)
    if (code !== NEWLINE && !isComment) return code
    const from = cursor.at
    toContent(cursor)
    // Of a comment that begins its line the library says, at some places, that a blank is missing.
    if (cursor.column <= parent || cursor.text.slice(from, cursor.at).includes('\n#')) giveUp()
  }
}
