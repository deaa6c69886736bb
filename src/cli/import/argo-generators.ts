import type { GitOpsDeploymentSetSpec } from '../../api/index.ts'
import { isRecord, matchesWildcard } from '../../std/index.ts'
import { isTemplated, type Words } from './argo-placeholders.ts'
import type { ForeignFields } from './fields.ts'
import { type ProjectPlace, repositoryUrl } from './made.ts'
import { cleanPath, recordOf } from './paths.ts'

type Generator = GitOpsDeploymentSetSpec['generators'][number]
type PlainGenerator = Omit<Generator, 'product'>

interface Generating {
  /** The placeholders that the template has. */
  used: ReadonlySet<string>
  /** The name of the GitProject of a repository. */
  projectOf(place: ProjectPlace): string
}

interface Plain {
  generators: PlainGenerator[]
  words: Words
}

/** Ours in the place of those of an ApplicationSet; nothing where one has no match, which is told. */
export function generatorsOf(spec: ForeignFields, generating: Generating): { generators: Generator[]; words: Words } | undefined {
  const all = spec.records('generators').map((each) => generatorOf(each, generating))
  const found = all.filter((each) => each !== undefined)
  const words = joined(found.map((each) => each.words))
  if (words && found.length > 0 && found.length === all.length)
    return { generators: found.flatMap(({ generators }) => generators), words }
  if (found.length === all.length)
    spec.tell('They give a name in different ways, or there is none: make a set for each.', 'generators')
  return undefined
}

function generatorOf(fields: ForeignFields, generating: Generating): { generators: Generator[]; words: Words } | undefined {
  const matrix = fields.record('matrix')
  if (!matrix) return plainOf(fields, generating)
  const all = matrix.records('generators').map((each) => plainOf(each, generating))
  const found = all.filter((each) => each !== undefined)
  const words = new Map(found.flatMap((each) => [...each.words]))
  const isTwice = words.size < found.reduce((sum, each) => sum + each.words.size, 0)
  if (isTwice) matrix.tell('Two of them give the same name, and Berth would refuse it.', 'generators')
  if (isTwice || found.length === 0 || found.length !== all.length) return undefined
  const products = found.reduce<PlainGenerator[][]>(
    (before, { generators }) => before.flatMap((some) => generators.map((each) => [...some, each])),
    [[]],
  )
  return { generators: products.map((product) => ({ product })), words }
}

function plainOf(fields: ForeignFields, generating: Generating): Plain | undefined {
  const [list, git, clusters] = ['list', 'git', 'clusters'].map((name) => fields.record(name))
  if (fields.value('selector') !== undefined) fields.tell('Choose the elements where they are made.', 'selector')
  else if (list) return listOf(list, generating)
  else if (git) return directoriesOf(git, generating)
  else if (clusters || fields.value('clusters') !== undefined) return environmentsOf(clusters, generating)
  else fields.tell('Berth has lists, Environments, branches and directories, and products of these.')
  return undefined
}

function listOf(list: ForeignFields, { used }: Generating): Plain | undefined {
  const given = list.value('elements')
  const elements = (Array.isArray(given) ? given : []).filter(isRecord)
  const names = [...new Set(elements.flatMap((element) => Object.keys(element)))]
  const isPlain = elements.every((element) =>
    Object.values(element).every((value) => typeof value !== 'object' && !isTemplated(String(value))),
  )
  const isWhole = names.every((name) => !used.has(name) || elements.every((element) => Object.hasOwn(element, name)))
  if (elements.length === 0 || !isPlain || !isWhole || new Set(names.map(variableFor)).size < names.length) {
    list.tell('Berth has elements that are written out, each with a text for every name that the template has.', 'elements')
    return undefined
  }
  const texts = elements.map((element) =>
    Object.fromEntries(Object.entries(element).map(([name, value]) => [variableFor(name), String(value)])),
  )
  return { generators: [{ list: { elements: texts } }], words: new Map(names.map((name) => [name, variable(name)])) }
}

const variableFor = (name: string): string => name.replaceAll(/\W/g, '_').replace(/^(?=\d)/, '_')
const variable = (name: string): string => `\${${variableFor(name)}}`

const PATHS: Words = new Map([
  ['path', '${path}'],
  ['path.path', '${path}'],
  ['path.basename', '${directory}'],
  ['path.basenameNormalized', '${slug}'],
])

function directoriesOf(git: ForeignFields, { projectOf, used }: Generating): Plain | undefined {
  const directories = git
    .records('directories')
    .map((each) => ({ path: each.text('path') ?? '', isLeftOut: each.flag('exclude') }))
  const [repository, revision] = [repositoryUrl(git, 'repoURL'), git.text('revision')]
  const paths = directories.map(({ path }) => path)
  git.pass('requeueAfterSeconds')
  if (
    git.has('files') ||
    [repository ?? '', revision ?? '', ...paths].some(isTemplated) ||
    paths.some((path) => /[?[]/.test(path))
  ) {
    git.pass('files')
    git.tell('Berth has directories of one repository, by patterns with stars. Files with values have no match: write a list.')
    return undefined
  }
  const except = directories.filter(({ isLeftOut }) => isLeftOut).map(({ path }) => cleanPath(path))
  const patterns = directories.filter(({ isLeftOut }) => !isLeftOut).map(({ path }) => cleanPath(path))
  const apart = patterns.filter((pattern) => !patterns.some((other) => other !== pattern && isBelow(pattern, other)))
  if (!repository || apart.length === 0) return undefined
  if (used.has('path.basenameNormalized'))
    git.tell(
      'A slug is made of the whole path, and ends with a digest where it has other letters than names of objects.',
      'directories',
    )
  const more = { project: projectOf({ url: repository }), ...(revision !== undefined && revision !== 'HEAD' && { revision }) }
  const generators = apart.map((pattern) => ({ directories: { pattern, ...more, except: [...except, hiddenIn(pattern)] } }))
  return { generators, words: PATHS }
}

/** Whether all that a pattern takes is taken by the other one, too. */
function isBelow(pattern: string, other: string): boolean {
  const [parts, wanted] = [pattern.split('/'), other.split('/')]
  return parts.length === wanted.length && wanted.every((each, at) => matchesWildcard(each, parts[at] ?? ''))
}

/** Argo CD looks into no directory whose name begins with a dot. */
const hiddenIn = (pattern: string): string => [...pattern.split('/').slice(0, -1), '.*'].join('/')

const LABELS = 'metadata.labels.'

/** A cluster is an Environment here, that somebody has to make. */
function environmentsOf(clusters: ForeignFields | undefined, { used }: Generating): Plain | undefined {
  const labelSelector = selectorIn(clusters?.record('selector'))
  const labels = [...used].filter((word) => word.startsWith(LABELS)).map((word) => word.slice(LABELS.length))
  const constants = Object.entries(recordOf(clusters?.value('values'))).map(
    ([name, value]) => [`values.${name}`, String(value)] as const,
  )
  clusters?.pass('flatList')
  clusters?.tell('For each cluster make an Environment that is called as the cluster and has its labels.')
  if (
    isTemplated(labelSelector) ||
    constants.some(([, value]) => isTemplated(value) || value.includes('${')) ||
    new Set(labels.map(variableFor)).size < labels.length
  ) {
    clusters?.tell('Labels and values that are made of others have no match.')
    return undefined
  }
  const words = ['name', 'nameNormalized', 'server'].map((name) => [name, '${environment}'] as const)
  return {
    generators: [
      {
        environments: {
          ...(labelSelector !== '' && { labelSelector }),
          ...(labels.length > 0 && { labels: Object.fromEntries(labels.map((label) => [variableFor(label), label])) }),
        },
      },
    ],
    words: new Map([...words, ...labels.map((label) => [LABELS + label, variable(label)] as const), ...constants]),
  }
}

/** In one line, as the API has it in queries. */
export function selectorIn(selector: ForeignFields | undefined): string {
  const equal = Object.entries(recordOf(selector?.value('matchLabels'))).flatMap(([name, value]) =>
    name === 'argocd.argoproj.io/secret-type' ? [] : [`${name}=${value}`],
  )
  return [...equal, ...expressionsIn(selector?.records('matchExpressions') ?? [])].join(',')
}

export const expressionsIn = (expressions: readonly ForeignFields[]): string[] =>
  expressions.map((each) => {
    const [key = '', operator, values] = [each.text('key'), each.text('operator'), each.texts('values').join(',')]
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'NotIn' ? 'notin' : 'in'} (${values})`
  })

/** The words of all; nothing where one means different things, or is missing in one of them. */
function joined(all: readonly Words[]): Words | undefined {
  const [first = new Map<string, string>(), ...others] = all
  const isSame = others.every(
    (words) => words.size === first.size && [...words].every(([name, word]) => first.get(name) === word),
  )
  return isSame ? first : undefined
}
