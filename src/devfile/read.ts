import { parseYamlTree, type ReadYamlTree } from '../std/index.ts'
import { type DevfileFindings, type ProblemText, problemAt } from './problem.ts'
import type { YamlTree } from './tree.ts'

/** For programs of one user: everybody else would wait for a long text. */
const readHere: ReadYamlTree = async (text, options) => parseYamlTree(text, options)

/** Characters of a text: 3 MB, as the best known reader of devfiles has it. */
export const LARGEST = 3 * 1024 * 1024
/** Aliases can be nested so that a short text means a huge one. No honest devfile has as many as this. */
const MOST_ALIASES = 100
/** Characters of values with 16 for each of them: so many small values take as much time and memory as a devfile may. */
const MOST_EXPANDED = 2 * LARGEST
const LIMITS = { characters: LARGEST, tokens: 500_000, depth: 64, aliases: MOST_ALIASES, expanded: MOST_EXPANDED }

/** General problems of the reader of YAML, in words for devfiles. */
const FINDINGS: Readonly<Record<'depth' | 'anchor' | 'aliases', ProblemText>> = {
  depth: { rule: 'yaml', message: 'it is nested too deep' },
  anchor: { rule: 'yaml', message: 'an alias leads nowhere, or an anchor refers to itself' },
  aliases: { rule: 'aliases', message: `more than ${MOST_ALIASES} aliases are not read`, remedy: 'write the values out' },
}

/** The tree of a YAML or JSON text; `undefined` when it is none, and `findings` say why. Time and memory are bounded. */
export async function readTree(
  { name: file, text }: { name: string; text: string },
  { problems }: DevfileFindings,
  read: ReadYamlTree = readHere,
): Promise<YamlTree | undefined> {
  if (text.length > LARGEST) {
    problems.push(problemAt({ file, line: 1, column: 1 }, '', tooLarge(text.length)))
    return undefined
  }
  const { tree, problem } = await read(text, { file, schema: 'core', limits: LIMITS })
  if (!problem) return tree ?? { kind: 'scalar', file, line: 1, column: 1, value: null, source: '' }
  const { message, isTooLarge, about } = problem
  problems.push(problemAt({ ...problem, file }, '', about ? FINDINGS[about] : { rule: isTooLarge ? 'size' : 'yaml', message }))
  return undefined
}

/** In the words of the best known reader of devfiles. */
export function tooLarge(size: number): ProblemText {
  const text = `${Number((size / 1024 / 1024).toPrecision(3))} MB`
  return { rule: 'size', message: `Devfile size (${text}) exceeds the maximum allowed size of 3 MB` }
}
