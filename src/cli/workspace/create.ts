import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { type Kube, whoWeAre } from '../../adapters/kube/index.ts'
import {
  DEFAULT_CLASS,
  DeploymentTargetClaims,
  GitProjects,
  typeMetaOf,
  type Workspace,
  WorkspaceClasses,
  type WorkspaceSpec,
  Workspaces,
} from '../../api/index.ts'
import { Failure, harmlessLine } from '../../std/index.ts'
import { type CreateOptions, type Creation, createObject, withCreation } from '../create-object.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { findProjectByPath } from '../find-object.ts'
import { unlessForbidden, withKube } from '../options.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { watchUntil } from './watch.ts'
import { type WatchOptions, withStay } from './workspace.ts'

type Variable = NonNullable<WorkspaceSpec['variables']>[number]

/** What people say of a workspace that is to be. */
export interface WorkspaceWish {
  namespace: string
  project?: string | undefined
  ref?: string | undefined
  class?: string | undefined
  /** A file. */
  devfile?: string | undefined
  /** The devfile itself, where it lies in no file. */
  devfileText?: string | undefined
  devfilePath?: string | undefined
  claim?: string | undefined
  env?: Variable[] | undefined
  restoreFrom?: string | undefined
  stopped?: boolean | undefined
}

type Options = WorkspaceWish & WatchOptions & CreateOptions

export const verb = actionVerb({
  description: 'Make a workspace. It belongs to whoever makes it.',
  examples: [
    ['berth create web --project team-a/web --ref main --watch', 'and see each step'],
    ['berth create try --devfile .devfile.yaml --class small', 'without a project'],
    ['berth create web --env GREETING=hello -o yaml', 'and print what was made'],
  ],
  options: (command) =>
    withStay(
      withCreation(command, Workspaces)
        .option('--project <project>', 'GitProject to work on, by its name or its path')
        .option('--ref <ref>', 'branch, tag or commit (default: the default branch)')
        .option('--class <workspaceclass>', 'WorkspaceClass (default: default)')
        .option('--devfile <file>', 'file that holds the devfile; looked over, then sent as it is')
        .option(
          '--devfile-path <path>',
          'where the devfile lies in the project (default: .devfile.yaml or devfile.yaml there, else the one of the class)',
        )
        .option('--claim <claim>', 'DeploymentTargetClaim to share (default: one of its own)')
        .option('--env <name=value>', 'a variable for it; may be given more than once', variable)
        .option('--restore-from <workspace[/backup]>', 'begin with the newest backup of that workspace, or the one that is named')
        .option('--stopped', 'make it, but do not start it'),
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
  const { watch, timeout, stay, stopped } = options
  const made = await createObject({ shell, ...(await creationOf(shell, kube, name, options)) }, options)
  if (!watch || !made) return exitCodes.ok
  const generation = made.metadata.generation ?? 0
  return watchUntil({ shell, kube, workspace: made }, { state: stopped ? 'Stopped' : 'Running', timeout, stay, generation })
}

/** What is to be made, looked over as far as that can be done before. */
export async function creationOf(shell: Shell, kube: Kube, name: string, options: WorkspaceWish): Promise<Creation<Workspace>> {
  const { namespace, devfile, devfileText, devfilePath } = options
  if ((devfile ?? devfileText) !== undefined && devfilePath !== undefined)
    throw new Failure('invalid', '--devfile and --devfile-path both say what the devfile is.', { remedy: 'Give one of them.' })
  const spec = await specOf(shell, kube, options)
  const { workspaceClassName = DEFAULT_CLASS, project, target } = spec
  return {
    ...{ kube, kind: Workspaces },
    object: { ...typeMetaOf(Workspaces), metadata: { name, namespace }, spec },
    needs: [
      [WorkspaceClasses, workspaceClassName],
      [GitProjects, project?.gitProject],
      [DeploymentTargetClaims, target?.claimName],
    ],
    remedy: `Start it with \`berth start ${name} -n ${namespace}\`, or choose another name.`,
  }
}

async function specOf(shell: Shell, kube: Kube, options: WorkspaceWish): Promise<WorkspaceSpec> {
  const { project, ref, devfilePath, claim, env } = options
  if (ref !== undefined && project === undefined)
    throw new Failure('invalid', '--ref says what of a project, but no project is named.', { remedy: 'Name it with --project.' })
  // Older clusters want it in the manifest, the others put it there whatever stands there.
  const owner = await whoWeAre(kube).catch(() => undefined)
  const gitProject = project === undefined ? undefined : await projectNamed(kube, project, options.namespace)
  const inline = await devfileIn(shell, kube, options)
  return {
    ...(owner !== undefined && { owner }),
    ...(gitProject !== undefined && { project: { gitProject, ...(ref !== undefined && { ref }) } }),
    ...(options.class !== undefined && { workspaceClassName: options.class }),
    ...(inline !== undefined && { devfile: { inline } }),
    ...(devfilePath !== undefined && { devfile: { path: devfilePath } }),
    ...(claim !== undefined && { target: { claimName: claim } }),
    ...(env && { variables: env }),
    ...(options.restoreFrom !== undefined && { restoreFrom: backupNamed(options.restoreFrom) }),
    ...(options.stopped && { desiredState: 'Stopped' }),
  }
}

/** Written as WORKSPACE or WORKSPACE/BACKUP. */
function backupNamed(text: string): NonNullable<WorkspaceSpec['restoreFrom']> {
  const [workspace = '', backup] = text.split('/')
  return { workspace, ...(backup && { backup }) }
}

/** By its name, or by the path that people know it by. */
const projectNamed = async (kube: Kube, given: string, namespace: string): Promise<string> =>
  given.includes('/') ? (await findProjectByPath(kube, given, namespace)).metadata.name : given

/** A mistake is told here, with its line, before anything is made. What only the cluster knows is told by the status. */
async function devfileIn(shell: Shell, kube: Kube, options: WorkspaceWish): Promise<string | undefined> {
  const { devfile: file = 'the devfile' } = options
  const text = options.devfileText ?? (options.devfile === undefined ? undefined : await textOf(shell, options.devfile))
  if (text === undefined) return undefined
  refuseLong(file, text)
  const [{ sentenceOf }, { checkDevfile, leftToKas }] = await Promise.all([
    import('../../devfile/index.ts'),
    import('../../engines/devfiles/index.ts'),
  ])
  const ofClass = await unlessForbidden(() => kube.get(WorkspaceClasses, { name: options.class ?? DEFAULT_CLASS }))
  const { problems } = await checkDevfile(text, {
    ...{ name: file, profile: 'full', settings: ofClass?.spec, signal: shell.signal },
    hasProject: options.project !== undefined,
    textAt: leftToKas(ofClass?.spec),
  })
  if (problems.length === 0) return text
  for (const problem of problems) shell.say(`${harmlessLine(sentenceOf(problem))}\n`)
  const forClass = options.class === undefined ? '' : ` --class ${options.class}`
  throw new Failure('invalid', `${file} has ${problems.length} mistake${problems.length > 1 ? 's' : ''}, and nothing was made.`, {
    remedy: `Correct what is said above; \`berth validate ${file}${forClass}\` says it again.`,
  })
}

async function textOf({ cwd }: Shell, file: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), 'utf8')
  } catch (cause) {
    throw new Failure('not-found', `${file} cannot be read.`, {
      cause,
      remedy: 'Name a file that holds a devfile; for one in the project use --devfile-path.',
    })
  }
}

const MOST_BYTES = 65_536

function refuseLong(file: string, text: string): void {
  if (text.length <= MOST_BYTES) return
  throw new Failure(
    'too-large',
    `${file} has ${text.length} characters, and ${MOST_BYTES} is the most that a Workspace carries.`,
    {
      remedy: 'Put it into the project, and name it with --devfile-path.',
    },
  )
}
