import { type GitOpsDeploymentSyncRun, nameOf } from '../../api/index.ts'
import { harmless, harmlessLine, seconds } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import type { ObjectOptions } from '../find-object.ts'
import { type OutputOptions, wholeNumber, withOutput } from '../options.ts'
import { renderData, WIDTH, wrap } from '../output.ts'
import type { Paint } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { type DeploymentContext, onDeployment, withDeployment } from './deployment.ts'
import { dryRun as askForDryRun, faultOfRun } from './sync-run.ts'

interface DiffOptions extends ObjectOptions, OutputOptions {
  revision?: string
  exitCode?: boolean
  timeout: number
}

export const verb = actionVerb({
  description:
    'Show field by field what a synchronisation of a GitOpsDeployment would do, by a dry run with the rights of its tenant. Nothing is applied; values of Secrets are not shown. It creates a GitOpsDeploymentSyncRun with dryRun, waits for its answer and deletes it. Exits with 1 when an object would be refused: a sync would fail.',
  examples: [
    ['berth diff shop -n team-a', 'with the newest commit'],
    ['berth diff shop -n team-a --revision feature-x', 'with a branch'],
  ],
  options: (command) =>
    withOutput(withDeployment(command))
      .option('--revision <revision>', 'compare with this commit, branch or tag')
      .option('--exit-code', `exit with ${exitCodes.different} when something would be done`)
      .option('--timeout <seconds>', 'how long to wait for the answer', wholeNumber, 120),
  run: onDeployment(diffDeployment),
})

/** Says what a sync would do. */
export async function diffDeployment(context: DeploymentContext, options: DiffOptions): Promise<ExitCode> {
  return showDryRun(context, await askForDryRun(context, options.revision, seconds(options.timeout)), options)
}

/** Says what a dry run that is over has found. */
export function showDryRun(
  { shell, deployment }: DeploymentContext,
  run: GitOpsDeploymentSyncRun,
  options: Pick<DiffOptions, 'output' | 'exitCode'>,
): ExitCode {
  const fault = faultOfRun(run)
  if (fault !== undefined) {
    shell.say(harmless(`berth: what ${nameOf(deployment)} would do cannot be said: ${fault}\n`))
    return exitCodes.failed
  }
  const { revision = '', dryRun } = run.status ?? {}
  if (!dryRun) return exitCodes.failed
  if (options.output === 'table') shell.print(describeDryRun(nameOf(deployment), revision, dryRun, shell.paint))
  else shell.print(renderData(options.output, { revision, ...dryRun }))
  if (dryRun.refuse > 0) {
    const what = dryRun.refuse === 1 ? 'An object' : `${dryRun.refuse} objects`
    shell.say(`\n${what} would be refused, as said above: a sync would fail.\n`)
    return exitCodes.failed
  }
  return options.exitCode && isChange(dryRun) ? exitCodes.different : exitCodes.ok
}

type DryRun = NonNullable<NonNullable<GitOpsDeploymentSyncRun['status']>['dryRun']>
type ListedObject = NonNullable<DryRun['objects']>[number]
type Change = NonNullable<ListedObject['fields']>[number]

/** Whether anything would be done, now or when somebody has confirmed it. */
export const isChange = ({ create, change, delete: gone, hold }: DryRun): boolean => create + change + gone + hold > 0

const SIGNS = {
  Create: ['+', 'green'],
  Change: ['~', 'yellow'],
  Delete: ['-', 'red'],
  Hold: ['?', 'red'],
  Leave: [' ', 'dim'],
  Refuse: ['!', 'red'],
} as const

const SAID = {
  Create: 'to create',
  Change: 'to change',
  Delete: 'to delete',
  Hold: 'held back',
  Leave: 'left',
  Refuse: 'refused',
} as const

/** Says to people what would be done: a line for the whole, then each object with its fields. */
export function describeDryRun(title: string, revision: string, dryRun: DryRun, paint: Paint): string {
  const counts: [number, string][] = [
    [dryRun.create, SAID.Create],
    [dryRun.change, SAID.Change],
    [dryRun.delete, SAID.Delete],
    [dryRun.hold, SAID.Hold],
    [dryRun.refuse, SAID.Refuse],
    [dryRun.unchanged, 'as they are'],
  ]
  const said = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  const head = wrap(`${title} with commit ${revision.slice(0, 12)}: ${said.join(', ') || 'nothing to do'}.`)
  // A message that many objects have is written out once.
  const written = new Set<string>()
  const objects = (dryRun.objects ?? []).flatMap((object) => {
    const { message = '' } = object
    const isAgain = message.length >= WIDTH && written.has(message)
    written.add(message)
    return ['', ...linesOf(isAgain ? { ...object, message: 'as above' } : object, paint)]
  })
  const { omitted = 0 } = dryRun
  return [...head, ...objects, ...(omitted > 0 ? ['', `and ${omitted} more that are not listed`] : [])].join('\n')
}

function linesOf(
  { would, group, kind, namespace, name, message, source, fields = [], omittedFields = 0 }: ListedObject,
  paint: Paint,
): string[] {
  const [sign, colour] = SIGNS[would]
  const id = harmlessLine(`${group ? `${kind}.${group}` : kind} ${namespace ? `${namespace}/` : ''}${name}`)
  const aside = would === 'Hold' || would === 'Leave' || would === 'Refuse' ? ` (${SAID[would]})` : ''
  const why = message === undefined ? [] : wrap(message, 76).map((line) => `    ${line}`)
  const from = source === undefined ? [] : [`    ${paint('dim', harmlessLine(source))}`]
  const more = omittedFields > 0 ? [`    and ${omittedFields} more fields`] : []
  const told = would === 'Create' ? fields.filter(({ path }) => !SAID_BY_ID.includes(path)) : fields
  const changes = told.flatMap((change) => (would === 'Create' ? newFieldLines(change, paint) : fieldLines(change, paint)))
  return [paint(colour, `${sign} ${id}${aside}`), ...from, ...why, ...changes, ...more]
}

/** The line of the object says them already. */
const SAID_BY_ID = ['/apiVersion', '/kind', '/metadata/name', '/metadata/namespace']

/** Of a new object every field is news: a line for each, where it has room on one. */
function newFieldLines(change: Change, paint: Paint): string[] {
  const line = `    ${harmlessLine(change.path)}: ${harmless(change.to ?? '')}`
  return line.length > WIDTH || line.includes('\n') ? fieldLines(change, paint) : [paint('green', line)]
}

function fieldLines({ path, from, to }: Change, paint: Paint): string[] {
  const before = from === undefined ? [] : [paint('red', `      - ${harmless(from)}`)]
  const after = to === undefined ? [] : [paint('green', `      + ${harmless(to)}`)]
  return [`    ${harmlessLine(path)}`, ...before, ...after]
}
