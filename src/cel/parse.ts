import { parse } from '@bufbuild/cel'

export type Expr = NonNullable<ReturnType<typeof parse>['expr']>

/** What is wrong with an expression, and where: `1:17: there is no function mtaches()`. */
export class CelError extends SyntaxError {}

export interface Parsed {
  expr: Expr
  errorAt: (node: Expr, words: string) => CelError
}

const LONGEST = 4096
/** How deep brackets, operators and fields may lie in one another. The parser takes long over brackets that stay open. */
export const DEEPEST = 64

/** Literal texts, in which brackets and slashes mean nothing, and comments. */
const ASIDE =
  /[rR](?:"""[\s\S]*?"""|'''[\s\S]*?'''|"[^"\n]*"|'[^'\n]*')|"""(?:\\[\s\S]|[^\\])*?"""|'''(?:\\[\s\S]|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/.*/g

/** Throws a CelError where the text stops making sense. */
export function parsed(text: string): Parsed {
  const error = (offset: number, words: string) => new CelError(`${placeIn(text, offset)}: ${words}`)
  if (text.length > LONGEST) throw error(0, `is longer than ${LONGEST} characters`)
  const deep = tooDeepAt(text.replace(ASIDE, blank))
  if (deep !== undefined) throw error(deep, `is nested more than ${DEEPEST} deep`)
  // The parser knows comments, but no two in a row and none at the end.
  const { expr, sourceInfo } = expressionIn(text.replace(ASIDE, (aside) => (aside.startsWith('//') ? blank(aside) : aside)))
  if (!expr) throw error(0, 'is empty')
  return { expr, errorAt: ({ id }, words) => error(sourceInfo?.positions[String(id)] ?? 0, words) }
}

const blank = (aside: string): string => aside.replaceAll(/./g, ' ')

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
