import { parse } from '@bufbuild/cel'

export type Expr = NonNullable<ReturnType<typeof parse>['expr']>

/** Says why an expression is refused, and where: `1:17: there is no function mtaches()`. */
export class CelError extends SyntaxError {}

export interface Parsed {
  expr: Expr
  errorAt: (node: Expr, words: string) => CelError
}

const LONGEST = 4096
/** How deep brackets, operators and fields may lie in one another. The parser takes long over brackets that stay open. */
export const DEEPEST = 64

/** Throws a CelError where the text stops making sense. */
export function parsed(text: string): Parsed {
  const error = (offset: number, words: string) => new CelError(`${placeIn(text, offset)}: ${words}`)
  if (text.length > LONGEST) throw error(0, `is longer than ${LONGEST} characters`)
  const asides = asidesIn(text, error)
  const deep = tooDeepAt(blanked(text, asides))
  if (deep !== undefined) throw error(deep, `is nested more than ${DEEPEST} deep`)
  // The parser knows comments, but no two in a row and none at the end.
  const comments = asides.filter(({ at }) => text.startsWith('//', at))
  const { expr, sourceInfo } = expressionIn(blanked(text, comments))
  if (!expr) throw error(0, 'is empty')
  return { expr, errorAt: ({ id }, words) => error(sourceInfo?.positions[String(id)] ?? 0, words) }
}

interface Aside {
  at: number
  end: number
}

/** Literal texts, in which brackets and slashes mean nothing, and comments. */
function asidesIn(text: string, error: (offset: number, words: string) => CelError): Aside[] {
  const asides: Aside[] = []
  const opening = /\/\/.*|([rR]?)("""|'''|"|')/g
  for (let found = opening.exec(text); found; found = opening.exec(text)) {
    const [, raw, quote] = found
    const at = found.index
    const end = quote === undefined ? opening.lastIndex : endOf(text, opening.lastIndex, quote, raw !== '')
    if (end === undefined) throw error(at, `the text that begins here does not end with ${quote}`)
    asides.push({ at, end })
    opening.lastIndex = end
  }
  return asides
}

function endOf(text: string, from: number, quote: string, isRaw: boolean): number | undefined {
  for (let at = from; at < text.length; at++) {
    if (text.startsWith(quote, at)) return at + quote.length
    if (text[at] === '\n' && quote.length === 1) return undefined
    if (text[at] === '\\' && !isRaw) at++
  }
  return undefined
}

/** The same text with spaces there. */
function blanked(text: string, asides: readonly Aside[]): string {
  let done = 0
  let rest = ''
  for (const { at, end } of asides) {
    rest += text.slice(done, at) + text.slice(at, end).replaceAll(/./g, ' ')
    done = end
  }
  return rest + text.slice(done)
}

function tooDeepAt(signs: string): number | undefined {
  let depth = 0
  for (const { 0: sign, index } of signs.matchAll(/[([{}\])]/g)) {
    depth += '([{'.includes(sign) ? 1 : -1
    if (depth > DEEPEST) return index
  }
  return undefined
}

function expressionIn(code: string): ReturnType<typeof parse> {
  try {
    return parse(code)
  } catch (thrown) {
    // `<input>:1:3: found x but expecting y`, where the list of what may stand there can be a paragraph of its own.
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    const [, place = '1:1', words = message] = /^<input>:(\d+:\d+): (.*)$/s.exec(message) ?? []
    const [found = words, expected = ''] = words.split(' but expecting ')
    const isShort = expected !== '' && expected.length <= 40
    throw new CelError(`${place}: ${isShort ? `${found} where ${expected} is expected` : found}`)
  }
}

function placeIn(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n')
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`
}
