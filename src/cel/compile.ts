import { evaluate, type Scope } from './evaluate.ts'
import { CelError, type Expression } from './expression.ts'
import { FUNCTIONS, METHODS } from './functions.ts'
import { parse } from './parse.ts'

/** Answers whether it holds; `undefined` when it has no value, as when a field that it names is not there yet. */
export type Program = (scope: Scope) => boolean | undefined

/** Enough for some thousand list elements and some hundred kilobytes of text; a stranger's expression ends after milliseconds. */
const STEPS = 20_000

/**
 * Checks an expression whose names are `names`. The answer is the program, or what is wrong with the text and where:
 * `1:17: there is no function mtaches()`.
 */
export function compile(text: string, names: readonly string[]): Program | { readonly wrong: string } {
  try {
    const expression = parse(text)
    check(expression, new Set(names))
    return (scope) => holds(expression, scope)
  } catch (thrown) {
    if (!(thrown instanceof CelError)) throw thrown
    const before = text.slice(0, thrown.column - 1).split('\n')
    return { wrong: `${before.length}:${(before.at(-1)?.length ?? 0) + 1}: ${thrown.message}` }
  }
}

function holds(expression: Expression, scope: Scope): boolean | undefined {
  try {
    const value = evaluate(expression, { scope, budget: { steps: STEPS } })
    return typeof value === 'boolean' ? value : undefined
  } catch (thrown) {
    if (thrown instanceof CelError) return undefined
    throw thrown
  }
}

/** What can be known before any value is: names, functions, the number of their arguments. */
function check(expression: Expression, names: ReadonlySet<string>): void {
  if (expression.is === 'name' && !names.has(expression.name))
    throw new CelError(`there is no ${expression.name}; known are ${[...names].join(', ')}`, expression.at)
  if (expression.is === 'call') checkCall(expression)
  if (expression.is === 'macro') check(expression.body, new Set([...names, expression.variable]))
  for (const part of partsOf(expression)) check(part, names)
}

function checkCall({ name, on, args, at }: Extract<Expression, { is: 'call' }>): void {
  const table = on ? METHODS : FUNCTIONS
  const known = Object.hasOwn(table, name) ? table[name] : undefined
  if (!known) throw new CelError(`there is no function ${name}()`, at)
  const given = args.length + (on ? 1 : 0)
  if (given !== known.args) throw new CelError(`${name}() takes ${known.args - (on ? 1 : 0)} arguments, not ${args.length}`, at)
}

function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.is) {
    case 'field':
    case 'has':
      return [expression.of]
    case 'index':
      return [expression.of, expression.key]
    case 'list':
      return expression.items
    case 'map':
      return expression.entries.flat()
    case 'unary':
      return [expression.value]
    case 'binary':
      return [expression.left, expression.right]
    case 'choice':
      return [expression.when, expression.then, expression.else]
    case 'call':
      return expression.on ? [expression.on, ...expression.args] : expression.args
    case 'macro':
      return [expression.over]
    default:
      return []
  }
}
