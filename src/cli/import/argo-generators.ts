import type { GitOpsDeploymentSetSpec } from '../../api/index.ts'
import { isRecord } from '../../std/index.ts'
import { cleanPath } from './argo-application.ts'
import type { ForeignFields } from './fields.ts'
import { repositoryUrl } from './made.ts'

type Generator = GitOpsDeploymentSetSpec['generators'][number]
type PlainGenerator = Omit<Generator, 'product'>

/** What stands in the place of each placeholder: `path.basename` is `${directory}`. */
export type Words = ReadonlyMap<string, string>

interface Generating {
  /** The placeholders that the template has. */
  used: ReadonlySet<string>
  /** The name of the GitProject of a repository. */
  projectOf(url: string): string
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
  const words = joined(found.map((each) => each.words))
  if (!words || found.length !== all.length) return undefined
  const products = found.reduce<PlainGenerator[][]>(
    (before, { generators }) => before.flatMap((some) => generators.map((each) => [...some, each])),
    [[]],
  )
  return { generators: products.map((product) => ({ product })), words }
}

function plainOf(fields: ForeignFields, generating: Generating): Plain | undefined {
  const [list, git, clusters] = ['list', 'git', 'clusters'].map((name) => fields.record(name))
  if (fields.value('selector') !== undefined) fields.tell('Choose the elements where they are made.', 'selector')
  else if (list) return listOf(list)
  else if (git) return directoriesOf(git, generating)
  else if (clusters || fields.value('clusters') !== undefined) return environmentsOf(clusters, generating)
  else fields.tell('Berth has lists, Environments, branches and directories, and products of these.')
  return undefined
}

function listOf(list: ForeignFields): Plain | undefined {
  const given = list.value('elements')
  const elements = (Array.isArray(given) ? given : []).filter(isRecord)
  if (elements.length === 0 || elements.some((element) => Object.values(element).some((value) => typeof value === 'object'))) {
    list.tell('Berth has elements that are written out, with a text for each name.', 'elements')
    return undefined
  }
  const names = new Set(elements.flatMap((element) => Object.keys(element)))
  const texts = elements.map((element) =>
    Object.fromEntries(Object.entries(element).map(([name, value]) => [variableFor(name), String(value)])),
  )
  return { generators: [{ list: { elements: texts } }], words: new Map([...names].map((name) => [name, variable(name)])) }
}

const variableFor = (name: string): string => name.replaceAll(/\W/g, '_').replace(/^(?=\d)/, '_')
const variable = (name: string): string => `\${${variableFor(name)}}`

/** Without the digest that keeps two of ours apart, Argo CD makes one name of `a_b` and `a-b`. */
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
  git.pass('requeueAfterSeconds', 'files')
  if (!repository || directories.length === 0 || [repository, revision].some((each) => each?.includes('{{'))) {
    git.tell('Berth has directories of a repository, by their pattern. Files with values have no match: write a list.')
    return undefined
  }
  if (used.has('path.basenameNormalized'))
    git.tell('A slug ends with a digest where the directory has other letters than names of objects have.', 'directories')
  const except = directories.filter(({ isLeftOut }) => isLeftOut).map(({ path }) => cleanPath(path))
  const more = {
    project: projectOf(repository),
    ...(revision !== undefined && revision !== 'HEAD' && { revision }),
    ...(except.length > 0 && { except }),
  }
  const patterns = directories.filter(({ isLeftOut }) => !isLeftOut).map(({ path }) => cleanPath(path))
  return { generators: patterns.map((pattern) => ({ directories: { pattern, ...more } })), words: PATHS }
}

const LABELS = 'metadata.labels.'

/** A cluster is an Environment here, that somebody has to make. */
function environmentsOf(clusters: ForeignFields | undefined, { used }: Generating): Plain {
  const labelSelector = selectorIn(clusters?.record('selector'))
  const labels = [...used].filter((word) => word.startsWith(LABELS)).map((word) => word.slice(LABELS.length))
  const values = clusters?.value('values')
  const constants = Object.entries(isRecord(values) ? values : {}).map(
    ([name, value]) => [`values.${name}`, String(value)] as const,
  )
  const words = ['name', 'nameNormalized', 'server'].map((name) => [name, '${environment}'] as const)
  clusters?.pass('flatList')
  clusters?.tell('For each cluster make an Environment, with the labels of the cluster: those are what there is one for.')
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

const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})

/** All words of several; nothing where one means different things. */
function joined(all: readonly Words[]): Words | undefined {
  const words = new Map<string, string>()
  for (const [name, word] of all.flatMap((each) => [...each])) {
    if (words.has(name) && words.get(name) !== word) return undefined
    words.set(name, word)
  }
  return words
}
