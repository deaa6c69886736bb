import { CelError, type Expression, MACROS, type Macro, OPERATORS, type Operator } from './expression.ts'
import { type Token, tokensOf } from './token.ts'

/** From the weakest to the strongest; those of one line bind alike, from left to right. */
const STRENGTHS: readonly (readonly Operator[])[] = [
  ['||'],
  ['&&'],
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
]

/** How deep brackets and operators may lie in one another. */
const DEEPEST = 64

/** Parses an expression whole. Throws a CelError that says where it stops making sense. */
export function parse(text: string): Expression {
  const parser = new Parser(tokensOf(text))
  const expression = parser.expression()
  parser.expect('')
  return expression
}

class Parser {
  readonly #tokens: readonly Token[]
  #next = 0
  #depth = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  expression(): Expression {
    if (++this.#depth > DEEPEST) throw new CelError(`is nested more than ${DEEPEST} deep`, this.#token.at)
    const when = this.#binary(0)
    const { at } = this.#token
    const isChoice = this.#take('?')
    const result: Expression = isChoice ? this.#choice(when, at) : when
    this.#depth--
    return result
  }

  /** Takes the sign, or says what stands there instead; `''` is the end. */
  expect(sign: string): void {
    const token = this.#token
    if (sign === '' ? token.is === 'end' : this.#take(sign)) return
    if (sign === '') throw new CelError(`${JSON.stringify(token.text)} stands where the expression should end`, token.at)
    const found = token.is === 'end' ? 'the expression ends' : `${JSON.stringify(token.text)} stands`
    throw new CelError(`${found} where ${JSON.stringify(sign)} is expected`, token.at)
  }

  get #token(): Token {
    return this.#tokens[this.#next] ?? { is: 'end', text: '', at: 0 }
  }

  #take(sign: string): boolean {
    const { is, text } = this.#token
    if (is === 'literal' || is === 'end' || text !== sign) return false
    this.#next++
    return true
  }

  #choice(when: Expression, at: number): Expression {
    const then = this.#binary(0)
    this.expect(':')
    return { is: 'choice', when, then, else: this.expression(), at }
  }

  #binary(strength: number): Expression {
    const operators = STRENGTHS[strength]
    if (!operators) return this.#unary()
    let left = this.#binary(strength + 1)
    while (true) {
      const { at } = this.#token
      const operator = operators.find((one) => this.#take(one))
      if (!operator) return left
      left = { is: 'binary', operator, left, right: this.#binary(strength + 1), at }
    }
  }

  #unary(): Expression {
    const { at } = this.#token
    for (const operator of ['!', '-'] as const)
      if (this.#take(operator)) {
        if (++this.#depth > DEEPEST) throw new CelError(`is nested more than ${DEEPEST} deep`, at)
        const value = this.#unary()
        this.#depth--
        return { is: 'unary', operator, value, at }
      }
    return this.#member(this.#primary())
  }

  #member(start: Expression): Expression {
    let of = start
    while (true) {
      const { at } = this.#token
      if (this.#take('[')) {
        of = { is: 'index', of, key: this.expression(), at }
        this.expect(']')
      } else if (this.#take('.')) {
        const name = this.#name('a field')
        of = this.#take('(') ? this.#method(of, name, at) : { is: 'field', of, name, at }
      } else return of
    }
  }

  #method(on: Expression, name: string, at: number): Expression {
    if (isMacro(name)) {
      const variable = this.#name('the name of a variable')
      this.expect(',')
      const body = this.expression()
      this.expect(')')
      return { is: 'macro', name, over: on, variable, body, at }
    }
    return { is: 'call', name, on, args: this.#list(')'), at }
  }

  #primary(): Expression {
    const token = this.#token
    const { at } = token
    if (token.is === 'literal') {
      this.#next++
      return { is: 'literal', value: token.value, at }
    }
    if (token.is === 'name' && !OPERATORS.some((operator) => operator === token.text)) return this.#named(at)
    if (this.#take('(')) {
      const inner = this.expression()
      this.expect(')')
      return inner
    }
    if (this.#take('[')) return { is: 'list', items: this.#list(']'), at }
    if (this.#take('{')) return { is: 'map', entries: this.#entries(), at }
    throw new CelError(token.is === 'end' ? 'the expression ends too early' : `${JSON.stringify(token.text)} begins no value`, at)
  }

  #named(at: number): Expression {
    const name = this.#name('a name')
    if (!this.#take('(')) return { is: 'name', name, at }
    const args = this.#list(')')
    if (name !== 'has') return { is: 'call', name, args, at }
    const [field] = args
    if (args.length === 1 && field?.is === 'field') return { is: 'has', of: field.of, name: field.name, at }
    throw new CelError('has() takes one field, such as has(object.status)', at)
  }

  #name(what: string): string {
    const token = this.#token
    if (token.is !== 'name') throw new CelError(`${what} is expected`, token.at)
    this.#next++
    return token.text
  }

  #list(end: string): Expression[] {
    const items: Expression[] = []
    while (!this.#take(end)) {
      items.push(this.expression())
      if (this.#take(',')) continue
      this.expect(end)
      break
    }
    return items
  }

  #entries(): [Expression, Expression][] {
    const entries: [Expression, Expression][] = []
    while (!this.#take('}')) {
      const key = this.expression()
      this.expect(':')
      entries.push([key, this.expression()])
      if (this.#take(',')) continue
      this.expect('}')
      break
    }
    return entries
  }
}

const isMacro = (name: string): name is Macro => MACROS.some((macro) => macro === name)
