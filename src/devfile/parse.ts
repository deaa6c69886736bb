import type { ReadYamlTree } from '../std/index.ts'
import { checkCommands } from './command-rules.ts'
import { checkComponents, checkUri } from './component-rules.ts'
import { buildDevfile, type Devfile } from './devfile.ts'
import { type DevfileFetcher, flattened, type ImportedText } from './flatten.ts'
import { finished, relocated } from './gather.ts'
import { checkGitLab } from './gitlab.ts'
import { type DevfileParts, partsOf } from './parts.ts'
import { type DevfileFindings, type DevfileProblem, type ProblemText, pathsIn, problem, problemAt, warning } from './problem.ts'
import { checkProjects } from './project-rules.ts'
import { readTree } from './read.ts'
import { DEVFILE, NEWEST, TEMPLATE } from './schema.ts'
import { checkShape, checkVersion } from './shape.ts'
import { at, dataOf, itemsOf, partAt, type YamlMap, type YamlTree } from './tree.ts'
import { fillIn, tellUnfilled, variablesIn } from './variables.ts'

/** full - all of the devfile specification. gitlab - and what GitLab refuses on top, in its words. */
export const PROFILES = ['full', 'gitlab'] as const
export type DevfileProfile = (typeof PROFILES)[number]

export interface DevfileOptions {
  /** The file or URL that the text is from: it stands in problems, and relative references begin there. */
  name?: string
  profile?: DevfileProfile
  /** How the text and those of its parents are read: a program of many users has a thread for long ones. */
  read?: ReadYamlTree | undefined
}

export interface Flattened {
  devfile: Devfile
  /** The same as a document: without parent and plugins, with variables filled in. */
  document: () => unknown
  /** The texts that went into it, apart from the devfile itself. */
  sources: ImportedText[]
  /** A finding of who knows the devfile only: at the part to which keys, names and ids lead, in whichever text that is. */
  problemIn: (way: readonly string[], finding: ProblemText) => DevfileProblem
}

/** The devfile in this text, or everything that is wrong with it, in the order of the text. A parent is not looked for. */
export async function parseDevfile(
  text: string,
  options: DevfileOptions = {},
): Promise<{ devfile: Devfile } | { problems: DevfileProblem[] }> {
  const { findings, parts } = await checkText(text, options)
  if (parts) {
    refuseParent(parts)
    needContainer(parts)
  }
  const { problems, warnings } = finished(findings)
  return parts && problems.length === 0 ? { devfile: { ...buildDevfile(parts), warnings } } : { problems }
}

/**
 * Finds mistakes in a devfile that nobody wants to run yet, and what may surprise. Where it has a parent, which is not
 * looked at, references that lead nowhere are not told: the parent may have what is missing.
 */
export async function validateDevfile(text: string, options: DevfileOptions = {}): Promise<DevfileFindings> {
  const { findings, parts } = await checkText(text, options)
  const parent = parts && at(parts.root, 'parent')
  if (parent) warning(parts, parent, { rule: 'parent-unresolved', message: 'the parent was not looked at, nor what it brings' })
  return finished(findings)
}

/** The devfile with its parents and plugins merged into it. What `fetch` refuses is a problem like any other. */
export async function flattenDevfile(
  text: string,
  options: DevfileOptions & { fetch: DevfileFetcher; signal?: AbortSignal },
): Promise<Flattened | DevfileFindings> {
  const { name = '', fetch, read, signal } = options
  const findings: DevfileFindings = { problems: [], warnings: [] }
  const root = await readRoot(text, options, findings)
  if (!root) return finished(findings)
  const roots = new Map<string, YamlTree>([[name, root]])
  const sources: ImportedText[] = []
  const way = { name, ids: name ? [name] : [], depth: 0 }
  const flattening = { findings, fetch, read, sources, characters: 0, roots, signal, isWhole: true }
  const whole = await flattened(flattening, root, way)
  const later: DevfileFindings = { problems: [], warnings: [] }
  if (sources.length > 0)
    checkShape({ findings: later, pathOf: pathsIn(whole), version: NEWEST, isTemplate: true }, whole, DEVFILE)
  const parts = checkRules(whole, later, flattening.isWhole)
  needContainer(parts)
  const found = sources.length > 0 ? relocated(later, roots) : later
  const { problems, warnings } = finished({
    problems: [...findings.problems, ...found.problems],
    warnings: [...findings.warnings, ...found.warnings],
  })
  if (problems.length > 0) return { problems, warnings }
  return {
    devfile: { ...buildDevfile(parts), warnings },
    document: () => dataOf(whole),
    sources,
    problemIn: finderIn(whole, sources.length > 0 ? roots : undefined),
  }
}

/** `roots`: the trees that were merged. There may be as many findings as a devfile has parts. */
function finderIn(whole: YamlMap, roots: ReadonlyMap<string, YamlTree> | undefined): Flattened['problemIn'] {
  const pathOf = pathsIn(whole)
  return (way, finding) => {
    const part = partAt(whole, way)
    const placed = problemAt(part, pathOf(part), finding)
    return (roots && relocated({ problems: [placed], warnings: [] }, roots).problems[0]) ?? placed
  }
}

/** So many of anything are no workspace, and what is quadratic would be slow. */
const MOST_PARTS = 1000

async function readRoot(
  text: string,
  { name = '', read, profile }: DevfileOptions,
  findings: DevfileFindings,
): Promise<YamlMap | undefined> {
  const root = await readTree({ name, text }, findings, read)
  if (!root) return undefined
  for (const list of ['components', 'commands', 'projects', 'starterProjects', 'dependentProjects']) {
    const tree = at(root, list)
    const { length } = itemsOf(tree)
    if (!tree || length <= MOST_PARTS) continue
    findings.problems.push(
      problemAt(tree, list, { rule: 'size', message: `there are ${length}, and at most ${MOST_PARTS} are read` }),
    )
    return undefined
  }
  checkShape({ findings, pathOf: pathsIn(root), version: checkVersion(findings, root), isTemplate: false }, root, DEVFILE)
  if (root.kind !== 'map') return undefined
  if (profile === 'gitlab') checkGitLab(partsOf(root, findings, true))
  return root
}

async function checkText(text: string, options: DevfileOptions): Promise<{ findings: DevfileFindings; parts?: DevfileParts }> {
  const findings: DevfileFindings = { problems: [], warnings: [] }
  const root = await readRoot(text, options, findings)
  if (!root) return { findings }
  const isWhole = !at(root, 'parent')
  return { findings, parts: checkRules(root, findings, isWhole) }
}

/** The rules between parts, once variables stand for what they mean. */
function checkRules(root: YamlMap, findings: DevfileFindings, isWhole: boolean): DevfileParts {
  const filled = fillIn(root, TEMPLATE, variablesIn(at(root, 'variables')))
  const parts = partsOf(root, findings, isWhole)
  tellUnfilled(parts, filled)
  checkUri(parts, at(root, 'parent', 'uri'))
  checkUri(parts, at(root, 'parent', 'registryUrl'))
  checkComponents(parts)
  checkCommands(parts)
  checkProjects(parts)
  return parts
}

function refuseParent(parts: DevfileParts): void {
  const parent = at(parts.root, 'parent')
  if (parent)
    problem(parts, parent, {
      rule: 'parent-unresolved',
      message: 'parents are not supported here',
      remedy: 'write its components into this devfile',
    })
}

function needContainer(parts: DevfileParts): void {
  if (!parts.isWhole || parts.components.some(({ kind }) => kind === 'container')) return
  problem(
    parts,
    { holder: parts.root, field: 'components' },
    {
      rule: 'no-container',
      message: 'a workspace needs at least one component of kind container',
    },
  )
}
