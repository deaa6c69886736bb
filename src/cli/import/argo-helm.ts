import { posix } from 'node:path'
import type { GitOpsDeploymentSpec } from '../../api/index.ts'
import { defined, isRecord, parseYaml } from '../../std/index.ts'
import type { ForeignFields } from './fields.ts'

type Helm = NonNullable<GitOpsDeploymentSpec['source']['helm']>

/** `spec.source.helm` of an Application, of the chart in that directory; nothing where its values cannot be read. */
export function helmOf(helm: ForeignFields, directory: string): Helm | undefined {
  if (helm.flag('ignoreMissingValueFiles'))
    helm.tell('A file that is missing refuses the commit here. Leave out those that are.', 'ignoreMissingValueFiles')
  // Helm's major version, and the credentials of a chart's repository, which is none here.
  helm.pass('version', 'passCredentials', 'skipSchemaValidation', 'skipTests')
  const valueFiles = helm.texts('valueFiles').flatMap((file) => valueFileOf(helm, file, directory))
  const given = valuesOf(helm)
  const values = given && parametersOver(helm, given)
  if (!values) return undefined
  if (JSON.stringify(values).includes('$ARGOCD_')) helm.tell(BUILD, 'values')
  return defined({
    releaseName: helm.text('releaseName'),
    valueFiles: valueFiles.length > 0 ? valueFiles : undefined,
    values: Object.keys(values).length > 0 ? values : undefined,
    skipCrds: helm.flag('skipCrds'),
  })
}

const BUILD = 'What Argo CD puts in the place of $ARGOCD_… has no match: write what is meant.'

/** From the directory of the chart, as both have it; with a `/` before it, Argo CD means the root of the repository. */
function valueFileOf(helm: ForeignFields, file: string, directory: string): string[] {
  if (/^\w+:\/\//.test(file) || file.includes('$') || /[*?[{]/.test(file)) {
    helm.tell(`${file} has no match: Berth reads files of the same repository, each by its name.`, 'valueFiles')
    return []
  }
  return [file.startsWith('/') ? posix.relative(posix.join('/', directory), file) : file]
}

/** The mapping wins over the text, as in Argo CD. */
function valuesOf(helm: ForeignFields): Record<string, unknown> | undefined {
  const text = helm.text('values')
  const mapping = helm.value('valuesObject')
  if (isRecord(mapping)) return mapping
  if (text === undefined) return {}
  const { documents, problem } = parseYaml(text)
  const [first] = documents ?? []
  if (documents?.length === 0) return {}
  if (documents?.length === 1 && isRecord(first?.value)) return first.value
  helm.tell(problem ? `Line ${problem.line}: ${problem.message}.` : 'It is no mapping in YAML.', 'values')
  return undefined
}

/** Parameters win over values, as `helm --set` does. */
function parametersOver(helm: ForeignFields, values: Record<string, unknown>): Record<string, unknown> {
  const parameters = helm.records('parameters').map((each) => ({
    name: each.text('name') ?? '',
    value: each.text('value') ?? '',
    isText: each.flag('forceString') ?? false,
  }))
  return parameters.reduce((all, { name, value, isText }) => {
    const taken = isText ? value : typed(value)
    // Of commas, lists in braces, places in lists and backslashes Helm's own syntax has a meaning that a value has not.
    if (/^[\w-]+(?:\.[\w-]+)*$/.test(name) && !/[{},\\]/.test(value) && taken !== undefined)
      return withValue(all, name.split('.'), taken)
    helm.tell(`${name} is written as \`helm --set\` has it. Write it into values.`, 'parameters')
    return all
  }, values)
}

/** As `helm --set` takes a value: https://github.com/helm/helm/blob/main/pkg/strvals/parser.go. Nothing for an integer that would become another one. */
function typed(value: string): unknown {
  const word = value.toLowerCase()
  if (word === 'true' || word === 'false') return word === 'true'
  if (word === 'null') return null
  if (value !== '0' && (value.startsWith('0') || !/^[+-]?\d+$/.test(value))) return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : undefined
}

function withValue(values: Record<string, unknown>, [first = '', ...rest]: string[], value: unknown): Record<string, unknown> {
  const below = Object.hasOwn(values, first) ? values[first] : undefined
  return { ...values, [first]: rest.length === 0 ? value : withValue(isRecord(below) ? below : {}, rest, value) }
}
