/** One mistake in a devfile, with its place: what is wrong, where, and how to put it right. */
export interface Problem {
  /** Counted from 1. */
  line: number
  column: number
  /** `components[0].container.image` */
  path: string
  message: string
}

export const sentenceOf = ({ line, column, path, message }: Problem): string =>
  `line ${line}, column ${column}: ${path ? `${path}: ` : ''}${message}`
