import { type DevfileFindings, type DevfileProblem, inOrder } from './problem.ts'
import { walkTree, type YamlTree } from './tree.ts'

/** More than these nobody reads, and a status could not hold them. */
const MOST_PROBLEMS = 1000

/** In the order of the text, each once. Where GitLab has words for something, those of the schema are not needed beside them. */
export function finished({ problems, warnings }: DevfileFindings): DevfileFindings {
  const named = new Set(problems.filter(({ rule }) => rule === 'gitlab').map(placeOf))
  const once = distinct(problems.filter((each) => each.rule === 'gitlab' || !named.has(placeOf(each))))
  return { problems: limited(inOrder(once)), warnings: limited(inOrder(distinct(warnings))) }
}

const placeOf = ({ file, line, column, path }: DevfileProblem): string => `${file}:${line}:${column} ${path}`

function distinct(problems: readonly DevfileProblem[]): DevfileProblem[] {
  const same = Map.groupBy(problems, (each) => `${placeOf(each)} ${each.rule} ${each.message}`)
  return [...same.values()].flatMap(([first]) => first ?? [])
}

function limited(problems: DevfileProblem[]): DevfileProblem[] {
  const last = problems[MOST_PROBLEMS]
  if (!last) return problems
  const message = `there are ${problems.length - MOST_PROBLEMS} more`
  return [...problems.slice(0, MOST_PROBLEMS), { ...last, path: '', rule: 'size', message, remedy: 'correct those above first' }]
}

/** After merging, the third component may be the first of its file: problems say what it is called there. */
export function relocated({ problems, warnings }: DevfileFindings, roots: ReadonlyMap<string, YamlTree>): DevfileFindings {
  const paths = new Map<string, string>()
  if (problems.length + warnings.length > 0)
    for (const [file, root] of roots) walkTree(root, '', (tree, path) => paths.set(`${file} ${spotText(tree)}`, path))
  const move = (each: DevfileProblem): DevfileProblem => {
    const path = paths.get(`${each.file} ${spotText(each)}`)
    if (path === undefined || path === '') return each
    const missing = each.rule === 'required' ? `.${each.path.split('.').at(-1)}` : ''
    return { ...each, path: `${path}${missing}` }
  }
  return { problems: problems.map(move), warnings: warnings.map(move) }
}

const spotText = ({ line, column }: { line: number; column: number }): string => `${line}:${column}`
