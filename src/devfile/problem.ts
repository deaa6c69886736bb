import type { YamlSpot } from './tree.ts'

/** One mistake in a devfile, with its place: which rule it breaks, what is wrong, where, and how to put it right. */
export interface Problem {
  /** The file or URL it is in; empty for the devfile itself. */
  file: string
  /** Counted from 1. */
  line: number
  column: number
  /** `components[0].container.image` */
  path: string
  /** `volume-mount`: a word for programs; README.md lists them. */
  rule: string
  message: string
  /** What to do, as a clause: `name a volume component`. Empty where the message says it. */
  remedy: string
}

/** What was found so far. Rules add to it and never stop at the first. */
export interface Findings {
  problems: Problem[]
  /** What is read, but does not do what its author may think. */
  warnings: Problem[]
}

/** What is wrong, apart from where. */
export interface Finding {
  rule: string
  message: string
  remedy?: string
}

export function problemAt({ file, line, column }: YamlSpot, path: string, { rule, message, remedy = '' }: Finding): Problem {
  return { file, line, column, path, rule, message, remedy }
}

export const sentenceOf = ({ file, line, column, path, message, remedy }: Problem): string =>
  `${file ? `${file}, ` : ''}line ${line}, column ${column}: ${path ? `${path}: ` : ''}${message}${remedy ? ` (${remedy})` : ''}`

/** The order of the text; the devfile itself comes first. */
export const inOrder = (problems: readonly Problem[]): Problem[] =>
  [...problems].sort((a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
