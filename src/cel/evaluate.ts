import { isRecord } from '../std/index.ts'
import { CelError, type Expression, type Operator } from './expression.ts'
import { FUNCTIONS, METHODS } from './functions.ts'

export type Scope = Readonly<Record<string, unknown>>

/** One evaluation: what the names mean, and how much it may still cost. */
export interface Run {
  readonly scope: Scope
  readonly budget: { steps: number }
}

/** The value of an expression. Throws a CelError where there is none: a missing field, a wrong type, a budget that is used up. */
export function evaluate(expression: Expression, run: Run): unknown {
  charge(run, expression.at, 1)
  const { at } = expression
  switch (expression.is) {
    case 'literal':
      return expression.value
    case 'name':
      return named(expression.name, run.scope, at)
    case 'field':
      return fieldOf(evaluate(expression.of, run), expression.name, at)
    case 'has':
      return hasField(evaluate(expression.of, run), expression.name)
    case 'index':
      return elementOf(evaluate(expression.of, run), evaluate(expression.key, run), at)
    case 'list':
      return expression.items.map((item) => evaluate(item, run))
    case 'map':
      return Object.fromEntries(expression.entries.map(([key, value]) => [String(evaluate(key, run)), evaluate(value, run)]))
    case 'unary':
      return unary(expression.operator, evaluate(expression.value, run), at)
    case 'binary':
      return isLogical(expression.operator) ? logical(expression, run) : binary(expression, run)
    case 'choice':
      return evaluate(truth(evaluate(expression.when, run), at) ? expression.then : expression.else, run)
    case 'call':
      return called(expression, run)
    case 'macro':
      return macro(expression, run)
    default:
      return expression satisfies never
  }
}

type Of<Is extends Expression['is']> = Extract<Expression, { is: Is }>

function named(name: string, scope: Scope, at: number): unknown {
  if (Object.hasOwn(scope, name)) return scope[name]
  throw new CelError(`there is no ${name}`, at)
}

const hasField = (value: unknown, name: string): boolean =>
  isRecord(value) && Object.hasOwn(value, name) && value[name] !== undefined

function fieldOf(value: unknown, name: string, at: number): unknown {
  if (isRecord(value) && hasField(value, name)) return value[name]
  throw new CelError(`there is no field ${name}`, at)
}

function elementOf(value: unknown, key: unknown, at: number): unknown {
  if (Array.isArray(value) && typeof key === 'number' && Object.hasOwn(value, key)) return value[key]
  if (!Array.isArray(value) && typeof key === 'string') return fieldOf(value, key, at)
  throw new CelError(`there is no element ${JSON.stringify(key)}`, at)
}

function unary(operator: '!' | '-', value: unknown, at: number): unknown {
  if (operator === '!') return !truth(value, at)
  if (typeof value === 'number') return -value
  throw new CelError(`- takes a number, not ${typeOf(value)}`, at)
}

const isLogical = (operator: Operator): boolean => operator === '&&' || operator === '||'

/** Either side decides alone if it can, even when the other one has no value: that is the language's rule. */
function logical({ operator, left, right, at }: Of<'binary'>, run: Run): boolean {
  const deciding = operator === '||'
  let first: boolean
  try {
    first = truth(evaluate(left, run), at)
  } catch (error) {
    if (truth(evaluate(right, run), at) === deciding) return deciding
    throw error
  }
  return first === deciding ? deciding : truth(evaluate(right, run), at)
}

function truth(value: unknown, at: number): boolean {
  if (typeof value === 'boolean') return value
  throw new CelError(`must be true or false, not ${typeOf(value)}`, at)
}

function binary({ operator, left: a, right: b, at }: Of<'binary'>, run: Run): unknown {
  const left = evaluate(a, run)
  const right = evaluate(b, run)
  if (operator === '==') return same(left, right, run)
  if (operator === '!=') return !same(left, right, run)
  if (operator === 'in') return within(left, right, run)
  const answer =
    typeof left === 'number' && typeof right === 'number'
      ? onNumbers(operator, left, right)
      : typeof left === 'string' && typeof right === 'string'
        ? onTexts(operator, left, right, run)
        : undefined
  if (answer !== undefined) return answer
  if (operator === '+' && Array.isArray(left) && Array.isArray(right)) {
    run.budget.steps -= left.length + right.length
    return [...left, ...right]
  }
  throw new CelError(`${operator} cannot be used with ${typeOf(left)} and ${typeOf(right)}`, at)
}

/** Division by zero has no value. Two whole numbers divide to a whole number. */
function onNumbers(operator: Operator, left: number, right: number): unknown {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return right === 0 ? undefined : Number.isInteger(left) && Number.isInteger(right) ? Math.trunc(left / right) : left / right
    case '%':
      return right === 0 ? undefined : left % right
    default:
      return ordered(operator, left, right)
  }
}

function onTexts(operator: Operator, left: string, right: string, run: Run): unknown {
  if (operator !== '+') return ordered(operator, left, right)
  run.budget.steps -= (left.length + right.length) >> 4
  return left + right
}

function ordered<T extends number | string>(operator: Operator, left: T, right: T): boolean | undefined {
  if (operator === '<') return left < right
  if (operator === '<=') return left <= right
  if (operator === '>') return left > right
  return operator === '>=' ? left >= right : undefined
}

function same(left: unknown, right: unknown, run: Run): boolean {
  run.budget.steps -= 1 + (typeof left === 'string' && typeof right === 'string' ? left.length >> 8 : 0)
  if (Array.isArray(left))
    return Array.isArray(right) && left.length === right.length && left.every((item, index) => same(item, right[index], run))
  if (!isRecord(left) || !isRecord(right) || Array.isArray(right)) return left === right
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length && keys.every((key) => hasField(right, key) && same(left[key], right[key], run))
  )
}

function within(item: unknown, holder: unknown, run: Run): boolean {
  if (Array.isArray(holder)) return holder.some((one) => same(one, item, run))
  return typeof item === 'string' && hasField(holder, item)
}

function called({ name, on, args, at }: Of<'call'>, run: Run): unknown {
  const known = (on ? METHODS : FUNCTIONS)[name]
  const values = (on ? [on, ...args] : args).map((arg) => evaluate(arg, run))
  // A call is as long as the texts and lists that it goes through, and what it makes can be gone through again.
  charge(
    run,
    at,
    values.reduce<number>((sum, value) => sum + weightOf(value), 0),
  )
  const answer = known?.call(...values)
  if (answer === undefined) throw new CelError(`${name}() cannot be used with ${values.map(typeOf).join(', ')}`, at)
  return answer
}

/** A step for every sixteen characters, and for every element. */
const weightOf = (value: unknown): number =>
  typeof value === 'string' ? value.length >> 4 : Array.isArray(value) ? value.length : 0

function charge(run: Run, at: number, steps: number): void {
  run.budget.steps -= steps
  if (run.budget.steps < 0) throw new CelError('costs too much', at)
}

function macro({ name, over, variable, body, at }: Of<'macro'>, run: Run): unknown {
  const value = evaluate(over, run)
  const items = Array.isArray(value) ? value : isRecord(value) ? Object.keys(value) : undefined
  if (!items) throw new CelError(`${name}() goes over a list or a map, not ${typeOf(value)}`, at)
  const inside = (item: unknown) => evaluate(body, { ...run, scope: { ...run.scope, [variable]: item } })
  if (name === 'map') return items.map(inside)
  const holds = (item: unknown) => truth(inside(item), at)
  if (name === 'filter') return items.filter(holds)
  if (name === 'exists_one') return items.filter(holds).length === 1
  return quantified(items, holds, name === 'exists')
}

/** One item decides alone, even when others have no value. */
function quantified(items: readonly unknown[], holds: (item: unknown) => boolean, deciding: boolean): boolean {
  let trouble: unknown
  for (const item of items) {
    try {
      if (holds(item) === deciding) return deciding
    } catch (error) {
      trouble ??= error
    }
  }
  if (trouble !== undefined) throw trouble
  return !deciding
}

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : isRecord(value) ? 'a map' : `a ${typeof value}`
