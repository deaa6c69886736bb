import { celEnv, plan } from '@bufbuild/cel'
import { Failure } from '../std/index.ts'
import { meteredFunctions } from './functions.ts'
import { meteredNodes } from './nodes.ts'
import { CelError, type Expr, parsed } from './parse.ts'
import { celOf } from './values.ts'

/**
 * Answers whether it holds; `undefined` when it has no value, as when a field that it names is not there yet.
 * Throws a `too-large` failure when it goes through more of the object than an evaluation may.
 */
export type Program = (scope: Readonly<Record<string, unknown>>, spent?: Spent) => boolean | undefined

/** Is told how many steps an evaluation took, whatever came of it. */
export type Spent = (steps: number) => void

/** About a microsecond each: some thousand list elements, or some hundred kilobytes of text. */
const STEPS = 20_000
/** The price of an evaluation beside its steps, in steps. */
const BEGINNING = 30

/**
 * Checks an expression whose names are `names`. The answer is the program, or what is wrong with the text and where:
 * `1:17: there is no function mtaches()`.
 */
export function compile(text: string, names: readonly string[]): Program | { readonly wrong: string } {
  try {
    const { expr, errorAt } = parsed(text)
    meteredNodes(expr, { names: new Set(names), depth: 1, errorAt })
    return programOf(expr)
  } catch (thrown) {
    if (thrown instanceof CelError) return { wrong: thrown.message }
    throw thrown
  }
}

function programOf(expr: Expr): Program {
  let left = 0
  const spend = (steps: number): void => {
    left -= steps
    if (left < 0) throw usedUp()
  }
  const evaluate = plan(celEnv({ funcs: meteredFunctions(spend) }), expr)
  return (scope, spent) => {
    left = STEPS
    try {
      const values = Object.fromEntries(Object.entries(scope).map(([name, json]) => [name, celOf(json, spend)]))
      const value = withoutStacks(() => evaluate(values))
      // CEL absorbs errors, as in `error || true`; this one must be told.
      if (left < 0) throw usedUp()
      return typeof value === 'boolean' ? value : undefined
    } finally {
      spent?.(BEGINNING + STEPS - left)
    }
  }
}

/** A field that is missing is an error, and there can be one in each turn of a loop. Its stack would cost most of that, for nobody. */
function withoutStacks<Value>(run: () => Value): Value {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return run()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

const usedUp = (): Failure =>
  new Failure('too-large', `the budget of ${STEPS} steps for one object is used up`, {
    remedy: 'Let the expression go through fewer elements or shorter texts',
  })
