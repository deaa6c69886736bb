import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Option } from 'commander'
import { conditionOf, DEFAULT_CLASS, type WorkspaceClass, WorkspaceClasses, type WorkspaceClassSpec } from '../../api/index.ts'
import { type DevfileProblem, type DevfileProfile, PROFILES } from '../../devfile/index.ts'
import { allowedUrl, checkDevfile, type DevfileAddress, UNRESOLVED } from '../../engines/devfiles/index.ts'
import { Failure, isFailure, seconds, within } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { findObject } from '../find-object.ts'
import { type ClusterOptions, kubeconfigOf, type OutputOptions, withKube, withKubeconfig, withOutput } from '../options.ts'
import { marked, type OutputFormat, render } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'

interface Options extends OutputOptions, ClusterOptions {
  profile: DevfileProfile
  class?: string
  devfileHosts?: string
  devfileCa?: string
}

export const verb = actionVerb({
  description: `Say everything for which a workspace is not made from a devfile, each with its file, line and column: by the specification, by what Berth makes of it, and by a WorkspaceClass, which is asked of the cluster where there is a kubeconfig. Parents are read from files below the folder of the devfile, and by https from the hosts that the class or --devfile-hosts lists, those of registries too; what others bring is not looked at. Exits with ${exitCodes.invalid} when something is wrong, with ${exitCodes.unavailable} when one of these hosts does not answer; warnings do not count.`,
  examples: [
    ['berth validate .devfile.yaml', 'before it is pushed'],
    ['berth validate .devfile.yaml --class small', 'and what that class does not allow'],
    ['berth validate .devfile.yaml --devfile-hosts registry.devfile.io', 'with a parent of that registry'],
    ['berth validate .devfile.yaml --profile gitlab', 'and whether GitLab would take it'],
    ['berth validate - < .devfile.yaml', 'from standard input'],
    ['berth validate .devfile.yaml -o json | jq -r .[].rule', 'for programs'],
  ],
  options: (command) =>
    withOutput(withKubeconfig(command))
      .argument('<devfile>', 'file that holds the devfile, YAML or JSON; - for standard input')
      .option('--class <workspaceclass>', 'WorkspaceClass that it is for (default: default, where there is a cluster to ask)')
      .option(
        '--devfile-hosts <list>',
        'hosts from which parents are read by https, from here: as kas has it (default: those of the class)',
      )
      .option('--devfile-ca <file>', 'authorities for these hosts, PEM, instead of those of the system')
      .addOption(
        new Option('--profile <name>', 'by which rules: all of the specification, or what GitLab takes of it')
          .choices(PROFILES)
          .default('full'),
      ),
  run: validate,
})

async function validate(shell: Shell, given: string, options: Options): Promise<ExitCode> {
  const { profile, output } = options
  const [file, text] = given === '-' ? ['stdin', await shell.readInput()] : [given, await textOf(shell, given)]
  const ofClass = await classFor(shell, options)
  const settings = ofClass?.spec
  let isLate = false
  const checking = {
    name: file,
    profile,
    settings,
    hasProject: true,
    textAt: readerFor(shell, options, settings, () => {
      isLate = true
    }),
    signal: shell.signal,
  }
  const { problems, warnings } = await checkDevfile(text, checking)
  const rows = [...problems.map((each) => ({ severity: 'error', ...each })), ...warnings.map(asWarning)]
  if (rows.length > 0 || output !== 'table') shell.print(print(shell, output, rows))
  const isClosed = ofClass !== undefined && tellClass(shell, ofClass)
  if (output === 'table' && problems.length === 0) shell.print(marked('ok', outcomeOf(file, ofClass, warnings), shell.paint))
  if (output === 'table' && problems.length > 0)
    shell.say(`\n${file} has ${problems.length} mistake${problems.length > 1 ? 's' : ''}.\n`)
  if (problems.length > 0 || isClosed) return exitCodes.invalid
  return isLate ? exitCodes.unavailable : exitCodes.ok
}

/** Files of the project lie here; pages are read as kas reads them, but only from hosts that somebody has named. */
function readerFor(shell: Shell, options: Options, settings: WorkspaceClassSpec | undefined, onLate: () => void) {
  const hosts = options.devfileHosts?.toLowerCase().split(',') ?? settings?.devfileHosts
  const startFetching = async (devfileHosts: readonly string[]) => {
    const { devfileFetcherOf } = await import('../../kas/index.ts')
    const devfileCa = options.devfileCa && resolve(shell.cwd, options.devfileCa)
    return devfileFetcherOf({ devfileHosts: [...devfileHosts], devfileCa, addresses: ['public', 'private', 'loopback'] })
  }
  let fetching: ReturnType<typeof startFetching> | undefined
  return async ({ by, uri }: DevfileAddress): Promise<string | undefined> => {
    if (by === 'file') return textOf(shell, uri)
    if (by === 'project' || !hosts) return undefined
    if (settings?.devfileHosts) allowedUrl(uri, settings.devfileHosts, 'class')
    fetching ??= startFetching(hosts)
    try {
      return await (await fetching)(uri)
    } catch (thrown) {
      // That nobody answers here is no mistake of the devfile.
      if (!isFailure(thrown, 'unavailable', 'timeout')) throw thrown
      shell.say(`${uri}: ${thrown.message}\n`)
      onLate()
      return undefined
    }
  }
}

/** Nothing is called valid of which a part was not looked at. */
function outcomeOf(file: string, ofClass: WorkspaceClass | undefined, warnings: readonly DevfileProblem[]): string {
  if (warnings.some(({ rule }) => rule === UNRESOLVED))
    return `${file} has no mistakes as far as it is here: nobody has looked at what it brings in from elsewhere.`
  return `${file} is valid${ofClass ? ` for WorkspaceClass ${ofClass.metadata.name}` : ''}.`
}

/** Who names no class waits for no cluster that does not answer. */
const PATIENCE = seconds(5)

/** The class that is named, or that a workspace has without a word; nothing where there is nobody to ask. */
async function classFor(shell: Shell, options: Options): Promise<WorkspaceClass | undefined> {
  const name = options.class
  if (name !== undefined)
    return withKube(shell, options, (kube) => findObject(kube, WorkspaceClasses, { name }, '`berth get workspaceclasses`'))
  if (!mayHaveCluster(shell, options)) return undefined
  try {
    const found = await within(PATIENCE, shell.signal, (signal) =>
      withKube(shell, options, (kube) => kube.get(WorkspaceClasses, { name: DEFAULT_CLASS }, signal)),
    )
    if (!found) shell.say('The cluster has no WorkspaceClass default, so no class was asked: name one with --class.\n')
    return found
  } catch (thrown) {
    const { message } = Failure.from(thrown)
    shell.say(`No WorkspaceClass was asked: ${message}. Name one with --class, or another cluster with --kubeconfig.\n`)
    return undefined
  }
}

/** The client is loaded only where there may be something for it to do. */
const mayHaveCluster = (shell: Shell, options: Options): boolean =>
  kubeconfigOf(shell, options) !== undefined ||
  Boolean(shell.env.KUBECONFIG || shell.env.KUBERNETES_SERVICE_HOST) ||
  existsSync(join(shell.env.HOME ?? '', '.kube', 'config'))

/** True for a class that takes nobody, whatever the devfile. */
function tellClass(shell: Shell, { metadata: { name }, spec, status }: WorkspaceClass): boolean {
  if (spec.enabled === false) {
    shell.say(`WorkspaceClass ${name} takes no new workspaces. Use another class, or set its spec.enabled to true.\n`)
    return true
  }
  const ready = conditionOf(status?.conditions, 'Ready')
  if (ready?.status === 'False') shell.say(`WorkspaceClass ${name} is not ready (${ready.reason}): ${ready.message}\n`)
  return false
}

type Row = DevfileProblem & { severity: string }

const asWarning = (problem: DevfileProblem): Row => ({ severity: 'warning', ...problem })

const print = ({ paint }: Shell, output: OutputFormat, rows: Row[]): string =>
  render(output, rows, [
    {
      title: 'PLACE',
      of: ({ file, line, column }) => `${file}:${line}:${column}`,
      paint: ({ severity }, cell) => marked(severity === 'error' ? 'fail' : 'warn', cell, paint),
    },
    { title: 'RULE', of: ({ rule, severity }) => (severity === 'error' ? rule : `${rule} (warning)`) },
    { title: 'WHAT', of: ({ path, message, remedy }) => `${path ? `${path}: ` : ''}${message}${remedy ? ` (${remedy})` : ''}` },
  ])

async function textOf({ cwd }: Shell, file: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT' ? 'not-found' : 'invalid'
    throw new Failure(code, `${file} cannot be read.`, { cause, remedy: 'Name a file that holds a devfile.' })
  }
}
