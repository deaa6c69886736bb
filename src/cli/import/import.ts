import { type Command, InvalidArgumentError, Option } from 'commander'
import type { KubeObject } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { type ClusterOptions, withKube, withKubeconfig } from '../options.ts'
import { renderData } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb, groupVerb, type Verb } from '../verb.ts'
import { ARGO_KINDS, importArgo } from './argo.ts'
import { isName } from './fields.ts'
import { FLUX_KINDS, importFlux } from './flux.ts'
import { obstaclesIn, stepsOf } from './hand-over.ts'
import { type ForeignObject, type ImportChoices, type Imported, type ImportResult, madeOf } from './imported.ts'
import { ACCOUNT, accountIn } from './made.ts'
import { type ForeignKind, readCluster, readFiles, refuseTwins } from './read.ts'
import { reportOf } from './report.ts'
import { createSchemaCheck, type SchemaCheck } from './schema-check.ts'

interface Options extends ClusterOptions, ImportChoices {
  file: string[]
  cluster?: boolean
  from?: string
  output: 'yaml' | 'json'
}

/** Another program, and how its objects are read. */
interface Other {
  name: string
  kinds: readonly ForeignKind[]
  /** Its kinds, as `kubectl get` takes them. */
  words: string
  translate(given: readonly ForeignObject[], choices: ImportChoices): Imported[]
}

const ARGO: Other = { name: 'argo', kinds: ARGO_KINDS, words: 'applications,appprojects,applicationsets', translate: importArgo }
const FLUX: Other = {
  name: 'flux',
  kinds: FLUX_KINDS,
  words: 'gitrepositories,kustomizations,helmreleases',
  translate: importFlux,
}

const importVerb = (other: Other, description: string): Verb =>
  actionVerb({
    description: `${description} Prints them as YAML, and beside it, on standard error, what has no match and how everything goes over without a restart. It changes nothing. Exits with ${exitCodes.failed} when an object has no match.`,
    examples: [
      [`berth import ${other.name} --cluster > berth.yaml`, 'all that the cluster has'],
      [`berth import ${other.name} -f clusters/production > berth.yaml`, 'a folder of Git'],
      [`kubectl get -A ${other.words} -o json | berth import ${other.name} -f -`, 'from elsewhere'],
    ],
    options: (command) => withInput(withKubeconfig(command)),
    run: (shell, options: Options) => importAll(shell, other, options),
  })

const withInput = (command: Command): Command =>
  command
    .option('-f, --file <path>', 'file or folder with its objects, also several times; - for standard input', collect, [])
    .option('--cluster', 'read them from the cluster')
    .option('--from <namespace>', 'with --cluster: only what is in this namespace (default: all)', objectName)
    .option('--into <namespace>', 'namespace of sets, and of what is made where nothing names one', objectName)
    .addOption(new Option('-o, --output <format>', 'how to print what is made').choices(['yaml', 'json']).default('yaml'))

function objectName(text: string): string {
  if (isName(text)) return text
  throw new InvalidArgumentError('No namespace is called so.')
}

const collect = (path: string, before: string[]): string[] => [...before, path]

async function importAll(shell: Shell, { kinds, translate, words }: Other, options: Options): Promise<ExitCode> {
  const { file, cluster = false, from, output, into } = options
  if (cluster === file.length > 0)
    throw new Failure('invalid', 'it is not clear from where.', { remedy: 'Name files with -f, or give --cluster.' })
  const given = cluster
    ? await withKube(shell, options, (kube) => readCluster(kube, kinds, from))
    : await readFiles(shell, file, kinds)
  refuseTwins(given)
  const imported = looked(translate(given, { into }), createSchemaCheck(shell.home))
  if (imported.length === 0)
    throw new Failure('not-found', `there is none of ${words} ${cluster ? 'in the cluster' : `in ${file.join(', ')}`}.`, {
      remedy: 'Name other files with -f, or another cluster with --kubeconfig.',
    })
  const made = madeOf(imported)
  const objects = [...made.projects, ...made.sets, ...made.deployments]
  if (objects.length > 0) shell.print(printed([...accountsFor(made), ...objects], output))
  shell.say(`${reportOf(imported, stepsOf(imported, 'berth.yaml'), shell.paint)}\n`)
  return imported.some(({ isLost }) => isLost) ? exitCodes.failed : exitCodes.ok
}

/** Without what the API server would refuse, and with a word about those that do not go over. */
function looked(imported: readonly Imported[], check: SchemaCheck): Imported[] {
  const checked = imported.map((each): Imported => {
    const refused = each.made.flatMap(check)
    return refused.length > 0 ? { ...each, made: [], isLost: true, remarks: [...each.remarks, ...refused] } : each
  })
  const obstacles = obstaclesIn(checked)
  return checked.map((each): Imported => {
    const says = obstacles.get(each.title)
    return says === undefined ? each : { ...each, remarks: [...each.remarks, { field: 'metadata', says }] }
  })
}

/** As which is applied, in each namespace where nothing else is named. */
function accountsFor({ deployments, sets }: ImportResult): KubeObject[] {
  const specs = [...deployments, ...sets.map(({ metadata, spec: { template } }) => ({ metadata, spec: template.spec }))]
  const namespaces = specs.flatMap(({ metadata: { namespace }, spec }) =>
    spec.serviceAccountName === ACCOUNT && namespace !== undefined ? [namespace] : [],
  )
  return [...new Set(namespaces)].flatMap(accountIn)
}

function printed(objects: readonly KubeObject[], output: Options['output']): string {
  if (output === 'json') return renderData('json', { apiVersion: 'v1', kind: 'List', items: objects })
  return objects.map((object) => renderData('yaml', object)).join('\n---\n')
}

export const verb = groupVerb({
  description: 'Make of the objects of other GitOps tools those of Berth.',
  examples: [
    ['berth import flux --cluster > berth.yaml', 'Kustomizations and HelmReleases'],
    ['berth import argo --cluster > berth.yaml', 'Applications and ApplicationSets'],
  ],
  parts: [
    {
      name: 'argo',
      summary: 'make GitOpsDeployments of Applications and their sets',
      ...importVerb(
        ARGO,
        'Make GitOpsDeployments of Applications of Argo CD, with the windows of their AppProjects, sets of them of ApplicationSets, and a GitProject for each repository.',
      ),
    },
    {
      name: 'flux',
      summary: 'make GitOpsDeployments of Kustomizations and HelmReleases',
      ...importVerb(
        FLUX,
        'Make GitOpsDeployments of Kustomizations and HelmReleases of Flux, and GitProjects of their GitRepositories.',
      ),
    },
  ],
})
