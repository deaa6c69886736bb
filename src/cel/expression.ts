/** A parsed expression. Every node knows the column where it stands, for messages. */
export type Expression =
  | { readonly is: 'literal'; readonly value: unknown; readonly at: number }
  | { readonly is: 'name'; readonly name: string; readonly at: number }
  | { readonly is: 'field'; readonly of: Expression; readonly name: string; readonly at: number }
  | { readonly is: 'has'; readonly of: Expression; readonly name: string; readonly at: number }
  | { readonly is: 'index'; readonly of: Expression; readonly key: Expression; readonly at: number }
  | { readonly is: 'list'; readonly items: readonly Expression[]; readonly at: number }
  | { readonly is: 'map'; readonly entries: readonly (readonly [Expression, Expression])[]; readonly at: number }
  | { readonly is: 'unary'; readonly operator: '!' | '-'; readonly value: Expression; readonly at: number }
  | {
      readonly is: 'binary'
      readonly operator: Operator
      readonly left: Expression
      readonly right: Expression
      readonly at: number
    }
  | {
      readonly is: 'choice'
      readonly when: Expression
      readonly then: Expression
      readonly else: Expression
      readonly at: number
    }
  | {
      readonly is: 'call'
      readonly name: string
      readonly on?: Expression
      readonly args: readonly Expression[]
      readonly at: number
    }
  | {
      readonly is: 'macro'
      readonly name: Macro
      readonly over: Expression
      readonly variable: string
      readonly body: Expression
      readonly at: number
    }

export const OPERATORS = ['||', '&&', '==', '!=', '<', '<=', '>', '>=', 'in', '+', '-', '*', '/', '%'] as const
export type Operator = (typeof OPERATORS)[number]

export const MACROS = ['all', 'exists', 'exists_one', 'filter', 'map'] as const
export type Macro = (typeof MACROS)[number]

/** What is wrong with an expression, or with its evaluation; columns count from 1. */
export class CelError extends SyntaxError {
  readonly column: number

  constructor(message: string, column: number) {
    super(message)
    this.name = 'CelError'
    this.column = column
  }
}
