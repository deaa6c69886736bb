/**
 * The Common Expression Language for expressions of strangers: `compile` checks one and answers a function.
 * The language is @bufbuild/cel's. What is added here are limits, for the package has none: how long and how deep a text may
 * be, and how much of an object an evaluation may go through (decision 0105). The package takes a while to load: whoever
 * enters here does it with `import()`, when there is an expression.
 * Read compile.ts first, then parse.ts, nodes.ts, functions.ts and values.ts.
 */
export { compile, type Program, type Spent } from './compile.ts'
