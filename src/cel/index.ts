/**
 * A part of the Common Expression Language as a library: `compile` checks an expression once and answers a function.
 * What stands in the language definition's core is here (literals, fields, indexes, operators, macros, strings); what could
 * run long on a stranger's word is not: `matches` is left out, and every evaluation has a budget of steps.
 * Read expression.ts first, then token.ts, parse.ts, evaluate.ts, functions.ts.
 * Source of the rules: https://github.com/google/cel-spec/blob/master/doc/langdef.md
 */
export { compile, type Program } from './compile.ts'
