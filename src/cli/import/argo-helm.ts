import { posix } from 'node:path'
import type { GitOpsDeploymentSpec } from '../../api/index.ts'
import { defined, isRecord, parseYaml } from '../../std/index.ts'
import { mapTexts } from './argo-placeholders.ts'
import type { ForeignFields } from './fields.ts'
import { recordOf } from './paths.ts'

type Helm = NonNullable<GitOpsDeploymentSpec['source']['helm']>

interface Chart {
  directory: string
  /** In it, `${name}` stands for variables of ours. */
  isTemplate: boolean
}

/**
 * `spec.source.helm` of an Application. Nothing where its values cannot be read, and nothing of a template of which a part would be left
 * out: nobody looks at each of many.
 */
export function helmOf(helm: ForeignFields, chart: Chart): Helm | undefined {
  if (helm.flag('ignoreMissingValueFiles'))
    helm.tell('A file that is missing refuses the commit here. Leave out those that are.', 'ignoreMissingValueFiles')
  // Helm's major version, and the credentials of a chart's repository, which is none here.
  helm.pass('version', 'passCredentials', 'skipSchemaValidation', 'skipTests')
  const valueFiles = helm.texts('valueFiles').flatMap((file) => valueFileOf(helm, file, chart))
  const given = valuesOf(helm, chart)
  const values = given && parametersOver(helm, given, chart)
  if (!values || (chart.isTemplate && valueFiles.length < helm.texts('valueFiles').length)) return undefined
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
function valueFileOf(helm: ForeignFields, file: string, { directory, isTemplate }: Chart): string[] {
  const isFarAway = file.startsWith('/') && isTemplate && directory.includes('${')
  if (isFarAway || /^\w+:\/\//.test(file) || /[$*?[{]/.test(plain(file, isTemplate))) {
    helm.tell(`${file} has no match: Berth reads files of the same repository, each by its name.`, 'valueFiles')
    return []
  }
  return [file.startsWith('/') ? posix.relative(posix.join('/', directory), file) : file]
}

/** Without variables of ours. */
const plain = (text: string, isTemplate: boolean): string => (isTemplate ? text.replaceAll(/\$\{\w+\}/g, '') : text)

/** The mapping wins over the text, as in Argo CD. */
function valuesOf(helm: ForeignFields, { isTemplate }: Chart): Record<string, unknown> | undefined {
  const text = helm.text('values')
  const mapping = helm.value('valuesObject')
  if (isRecord(mapping)) return isTemplate ? textsKept(mapping) : mapping
  if (text === undefined) return {}
  const { documents, problem } = parseYaml(
    isTemplate ? text.replaceAll(/(["'])(\$\{\w+\})\1/g, (_, __, word: string) => `'${asText(word, true)}'`) : text,
  )
  const [first] = documents ?? []
  if (documents?.length === 0) return {}
  if (documents?.length === 1 && isRecord(first?.value)) return first.value
  helm.tell(problem ? `Line ${problem.line}: ${problem.message}.` : 'It is no mapping in YAML.', 'values')
  return undefined
}

/** In a mapping, what stands in quotes stays a text whatever is put there. */
const textsKept = (values: Record<string, unknown>): Record<string, unknown> =>
  recordOf(mapTexts(values, (text) => asText(text, true)))

/** Parameters win over values, as `helm --set` does. */
function parametersOver(
  helm: ForeignFields,
  values: Record<string, unknown>,
  { isTemplate }: Chart,
): Record<string, unknown> | undefined {
  let all: Record<string, unknown> | undefined = values
  for (const each of helm.records('parameters')) {
    const [name = '', value = ''] = [each.text('name'), each.text('value')]
    const taken = each.flag('forceString') ? asText(value, isTemplate) : typed(value)
    // Of commas, lists in braces, places in lists and backslashes Helm's own syntax has a meaning that a value has not.
    if (/^[\w-]+(?:\.[\w-]+)*$/.test(name) && !/[{},\\]/.test(plain(value, isTemplate)) && taken !== undefined)
      all = all && withValue(all, name.split('.'), taken)
    else {
      helm.tell(`${name} is written as \`helm --set\` has it. Write it into values.`, 'parameters')
      if (isTemplate) all = undefined
    }
  }
  return all
}

/** A variable alone would take the type that its value has in YAML: with quotes around it, a text is meant. */
const asText = (value: string, isTemplate: boolean): string =>
  isTemplate && /^\$\{\w+\}$/.test(value) ? `${QUOTE}${value}${QUOTE}` : value

/** Nobody has given such a variable, and so it is its default. */
const QUOTE = '${quote:="}'

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
