import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { type Kube, whoWeAre } from '../../adapters/kube/index.ts'
import {
  DeploymentTargetClaims,
  GitProjects,
  type Kind,
  keyOf,
  nameOf,
  WorkspaceClasses,
  type WorkspaceSpec,
  Workspaces,
} from '../../api/index.ts'
import { Failure, harmlessLine, isFailure } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { type OutputOptions, withKube, withOutput } from '../options.ts'
import { renderData } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { watchUntil } from './watch.ts'
import { commandFor, type WatchOptions, withStay, withWorkspace } from './workspace.ts'

type Variable = NonNullable<WorkspaceSpec['variables']>[number]

interface Options extends WatchOptions, OutputOptions {
  project?: string
  ref?: string
  class?: string
  devfile?: string
  devfilePath?: string
  claim?: string
  env?: Variable[]
  restoreFrom?: string
  stopped?: boolean
}

export const verb = actionVerb({
  description: 'Make a workspace. It belongs to whoever makes it.',
  examples: [
    ['berth create web --project team-a/web --ref main --watch', 'and see each step'],
    ['berth create try --devfile .devfile.yaml --class small', 'without a project'],
    ['berth create web --env GREETING=hello -o yaml', 'and print what was made'],
  ],
  options: (command) =>
    withOutput(
      withStay(
        withWorkspace(command)
          .option('--project <path>', 'GitProject to work on, by its name or its path')
          .option('--ref <ref>', 'branch, tag or commit (default: the default branch)')
          .option('--class <name>', 'WorkspaceClass (default: default)')
          .option('--devfile <file>', 'file that holds the devfile; looked over, then sent as it is')
          .option(
            '--devfile-path <path>',
            'where the devfile lies in the project (default: .devfile.yaml or devfile.yaml there, else the one of the class)',
          )
          .option('--claim <name>', 'DeploymentTargetClaim to share (default: one of its own)')
          .option('--env <name=value>', 'a variable for it; may be given more than once', variable)
          .option(
            '--restore-from <workspace[/backup]>',
            'begin with the newest backup of that workspace, or the one that is named',
          )
          .option('--stopped', 'make it, but do not start it'),
      ),
    ),
  run: (shell, name: string, options: Options) => withKube(shell, options, (kube) => create(shell, kube, name, options)),
})

/** Commander's parser for NAME=VALUE, given again and again. */
function variable(text: string, before: Variable[] = []): Variable[] {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Write it like NAME=value.')
  return [...before, { name: text.slice(0, at), value: text.slice(at + 1) }]
}

async function create(shell: Shell, kube: Kube, name: string, options: Options): Promise<ExitCode> {
  if (options.devfile !== undefined && options.devfilePath !== undefined)
    throw new Failure('invalid', '--devfile and --devfile-path both say what the devfile is.', { remedy: 'Give one of them.' })
  const { namespace, watch, timeout, stay, output, stopped } = options
  const spec = await specOf(shell, kube, options)
  for (const missing of await missingOf(kube, spec, namespace))
    shell.say(
      `There is no ${missing}, and the workspace waits until there is. If the name is wrong, delete it and make it anew.\n`,
    )
  const made = await kube
    .create(Workspaces, { apiVersion: 'berth.dev/v1alpha1', kind: Workspaces.kind, metadata: { name, namespace }, spec })
    .catch((thrown: unknown) => {
      if (!isFailure(thrown, 'already-exists')) throw thrown
      throw new Failure('already-exists', `there is a Workspace ${keyOf({ name, namespace })} already.`, {
        remedy: `Start it with \`berth start ${name} -n ${namespace}\`, or choose another name.`,
      })
    })
  const said = `${nameOf(made)} is made. See how it does with \`${commandFor('get', made)}\`.`
  shell.print(output === 'table' ? said : renderData(output, made))
  if (!watch) return exitCodes.ok
  const generation = made.metadata.generation ?? 0
  return watchUntil({ shell, kube, workspace: made }, { state: stopped ? 'Stopped' : 'Running', timeout, stay, generation })
}

async function specOf(shell: Shell, kube: Kube, options: Options): Promise<WorkspaceSpec> {
  const { project, ref, devfile, devfilePath, claim, env } = options
  if (ref !== undefined && project === undefined)
    throw new Failure('invalid', '--ref says what of a project, but no project is named.', { remedy: 'Name it with --project.' })
  // Older clusters want it in the manifest, the others put it there whatever stands there.
  const owner = await whoWeAre(kube).catch(() => undefined)
  return {
    ...(owner !== undefined && { owner }),
    ...(project !== undefined && {
      project: { gitProject: await projectNamed(kube, project, options.namespace), ...(ref !== undefined && { ref }) },
    }),
    ...(options.class !== undefined && { workspaceClassName: options.class }),
    ...(devfile !== undefined && { devfile: { inline: await checked(shell, devfile) } }),
    ...(devfilePath !== undefined && { devfile: { path: devfilePath } }),
    ...(claim !== undefined && { target: { claimName: claim } }),
    ...(env && { variables: env }),
    ...(options.restoreFrom !== undefined && { restoreFrom: backupNamed(options.restoreFrom) }),
    ...(options.stopped && { desiredState: 'Stopped' }),
  }
}

/** What it names may come later: only the person knows whether a name is wrong. Who may not look is told nothing. */
async function missingOf(kube: Kube, spec: WorkspaceSpec, namespace: string): Promise<string[]> {
  const { workspaceClassName = 'default', project, target } = spec
  const named: [kind: Kind, name: string | undefined][] = [
    [WorkspaceClasses, workspaceClassName],
    [GitProjects, project?.gitProject],
    [DeploymentTargetClaims, target?.claimName],
  ]
  const looks = named.map(async ([kind, name]) => {
    if (name === undefined) return []
    const ref = { name, ...(kind.namespaced && { namespace }) }
    const found = await kube.get(kind, ref).catch((thrown: unknown) => {
      if (!isFailure(thrown, 'forbidden')) throw thrown
      return ref
    })
    return found ? [] : [`${kind.kind} ${keyOf(ref)}`]
  })
  return (await Promise.all(looks)).flat()
}

/** Written as WORKSPACE or WORKSPACE/BACKUP. */
function backupNamed(text: string): NonNullable<WorkspaceSpec['restoreFrom']> {
  const [workspace = '', backup] = text.split('/')
  return { workspace, ...(backup && { backup }) }
}

/** By its name, or by the path that people know it by. */
async function projectNamed(kube: Kube, given: string, namespace: string): Promise<string> {
  if (!given.includes('/')) return given
  const projects = await kube.list(GitProjects, { namespace })
  const found = projects.find(({ spec }) => spec.path === given)
  if (found) return found.metadata.name
  const known = projects.map(({ spec, metadata }) => spec.path ?? metadata.name).sort()
  throw new Failure('not-found', `there is no GitProject with the path ${given} in namespace ${namespace}.`, {
    remedy: known.length > 0 ? `There is ${known.slice(0, 8).join(', ')}.` : 'Make one, or name another namespace with -n.',
  })
}

/** A mistake is told here, with its line, before anything is made. What only the cluster knows is told by the status. */
async function checked(shell: Shell, file: string): Promise<string> {
  const text = await textOf(shell, file)
  const { sentenceOf, validateDevfile } = await import('../../devfile/index.ts')
  const { problems } = await validateDevfile(text, { name: file, profile: 'full' })
  if (problems.length === 0) return text
  for (const problem of problems) shell.say(`${harmlessLine(sentenceOf(problem))}\n`)
  throw new Failure('invalid', `${file} has ${problems.length} mistake${problems.length > 1 ? 's' : ''}, and nothing was made.`, {
    remedy: `Correct what is said above; \`berth validate ${file}\` says it again.`,
  })
}

const MOST_BYTES = 65_536

async function textOf({ cwd }: Shell, file: string): Promise<string> {
  let text: string
  try {
    text = await readFile(resolve(cwd, file), 'utf8')
  } catch (cause) {
    throw new Failure('not-found', `${file} cannot be read.`, {
      cause,
      remedy: 'Name a file that holds a devfile; for one in the project use --devfile-path.',
    })
  }
  if (text.length <= MOST_BYTES) return text
  throw new Failure(
    'too-large',
    `${file} has ${text.length} characters, and ${MOST_BYTES} is the most that a Workspace carries.`,
    {
      remedy: 'Put it into the project, and name it with --devfile-path.',
    },
  )
}
