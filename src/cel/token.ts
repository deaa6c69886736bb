import { CelError } from './expression.ts'

export type Token =
  | { readonly is: 'name' | 'sign'; readonly text: string; readonly at: number }
  | { readonly is: 'literal'; readonly value: unknown; readonly text: string; readonly at: number }
  | { readonly is: 'end'; readonly text: ''; readonly at: number }

const SPACE = /\s+|\/\/[^\n]*/y
const NUMBER = /0x[0-9a-fA-F]+u?|(\d+(\.\d+)?([eE][+-]?\d+)?)u?/y
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const TEXT = /r?("""[\s\S]*?"""|'''[\s\S]*?'''|"(\\.|[^"\\\n])*"|'(\\.|[^'\\\n])*')/y
const SIGN = /\|\||&&|[=!<>]=|[<>!+\-*/%?:.,()[\]{}]/y
const WORDS: Record<string, unknown> = { true: true, false: false, null: null }

/** Longer expressions are refused before they are looked at. */
const LONGEST = 4096

/** Takes a text apart. Throws a CelError at what belongs to no token. */
export function tokensOf(text: string): Token[] {
  if (text.length > LONGEST) throw new CelError(`is longer than ${LONGEST} characters`, 1)
  const tokens: Token[] = []
  let at = 0
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  while (at < text.length) {
    const space = match(SPACE)
    if (space !== undefined) {
      at += space.length
      continue
    }
    const token = next(match, at + 1)
    if (!token) throw new CelError(`${JSON.stringify(text[at])} has no meaning here`, at + 1)
    tokens.push(token)
    at += token.text.length
  }
  return [...tokens, { is: 'end', text: '', at: text.length + 1 }]
}

function next(match: (pattern: RegExp) => string | undefined, at: number): Token | undefined {
  const quoted = match(TEXT)
  if (quoted !== undefined) return { is: 'literal', value: unquoted(quoted, at), text: quoted, at }
  const number = match(NUMBER)
  if (number !== undefined) return { is: 'literal', value: Number(number.replace(/u$/, '')), text: number, at }
  const name = match(NAME)
  if (name !== undefined)
    return Object.hasOwn(WORDS, name) ? { is: 'literal', value: WORDS[name], text: name, at } : { is: 'name', text: name, at }
  const sign = match(SIGN)
  return sign === undefined ? undefined : { is: 'sign', text: sign, at }
}

function unquoted(quoted: string, at: number): string {
  const isRaw = quoted.startsWith('r')
  const plain = isRaw ? quoted.slice(1) : quoted
  const width = /^("""|''')/.test(plain) ? 3 : 1
  const inside = plain.slice(width, -width)
  return isRaw
    ? inside
    : inside.replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/gs, (_, written: string) => unescaped(written, at))
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', "'": "'", '`': '`', '?': '?' }

function unescaped(written: string, at: number): string {
  const known = ESCAPES[written]
  if (known !== undefined) return known
  if (/^[ux]./.test(written)) return String.fromCharCode(Number.parseInt(written.slice(1), 16))
  throw new CelError(`\\${written} is no escape sequence`, at)
}
