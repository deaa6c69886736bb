import { at, joined, walkTree, type YamlSpot, type YamlTree } from './tree.ts'

/** One mistake in a devfile, with its place: which rule it breaks, what is wrong, where, and how to put it right. */
export interface DevfileProblem {
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
  /** A clause that says how to put it right: `name a volume component`. Empty where the message says it. */
  remedy: string
}

/** All that was found so far. Rules add to it and never stop at the first. */
export interface DevfileFindings {
  problems: DevfileProblem[]
  /** Of fields that are read, but do not do what their author may think. */
  warnings: DevfileProblem[]
}

/** A mistake without its place. */
export interface ProblemText {
  rule: string
  message: string
  remedy?: string
}

export function problemAt(
  { file, line, column }: YamlSpot,
  path: string,
  { rule, message, remedy = '' }: ProblemText,
): DevfileProblem {
  return { file, line, column, path, rule, message, remedy }
}

/** Findings about one tree, in which `pathOf` says where a value is. */
export interface ProblemReport {
  findings: DevfileFindings
  pathOf: (tree: YamlTree) => string
}

/** Paths are looked up only when there is something to tell: nearly always there is nothing. */
export function pathsIn(root: YamlTree): (tree: YamlTree) => string {
  const paths = new Map<YamlTree, string>()
  return (tree) => {
    if (paths.size === 0) walkTree(root, '', (each, path) => paths.set(each, path))
    return paths.get(tree) ?? ''
  }
}

/** A value, or a field that may be missing: then its holder is shown, unless there is a better spot. */
export type ProblemPlace = YamlTree | { holder: YamlTree; field: string; spot?: YamlSpot | undefined }

export const problem = (report: ProblemReport, place: ProblemPlace, finding: ProblemText): undefined =>
  void report.findings.problems.push(located(report, place, finding))

export const warning = (report: ProblemReport, place: ProblemPlace, finding: ProblemText): void =>
  void report.findings.warnings.push(located(report, place, finding))

function located({ pathOf }: ProblemReport, place: ProblemPlace, finding: ProblemText): DevfileProblem {
  if (!('holder' in place)) return problemAt(place, pathOf(place), finding)
  const { holder, field, spot = at(holder, field) ?? holder } = place
  return problemAt(spot, joined(pathOf(holder), field), finding)
}

export const sentenceOf = ({ file, line, column, path, message, remedy }: DevfileProblem): string =>
  `${file ? `${file}, ` : ''}line ${line}, column ${column}: ${path ? `${path}: ` : ''}${message}${remedy ? ` (${remedy})` : ''}`

/** The order of the text; the devfile itself comes first. */
export const inOrder = (problems: readonly DevfileProblem[]): DevfileProblem[] =>
  [...problems].sort((a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
