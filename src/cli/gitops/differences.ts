import type { GitOpsDeploymentSyncRun } from '../../api/index.ts'
import { harmless, harmlessLine } from '../harmless.ts'
import { WIDTH, wrap } from '../output.ts'
import type { Paint } from '../shell.ts'

export type DryRun = NonNullable<NonNullable<GitOpsDeploymentSyncRun['status']>['dryRun']>
type Listed = NonNullable<DryRun['objects']>[number]
type Change = NonNullable<Listed['fields']>[number]

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

export const differs = (dryRun: DryRun): boolean =>
  dryRun.create + dryRun.change + dryRun.delete + dryRun.hold + dryRun.refuse > 0

/** What would be done, for people: a line for the whole, then each object with its fields. */
export function letterOf(title: string, revision: string, dryRun: DryRun, paint: Paint): string {
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
  // What is said of many objects is written out once.
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
  { would, group, kind, namespace, name, message, source, fields = [], omittedFields = 0 }: Listed,
  paint: Paint,
): string[] {
  const [sign, colour] = SIGNS[would]
  const id = harmlessLine(`${group ? `${kind}.${group}` : kind} ${namespace ? `${namespace}/` : ''}${name}`)
  const aside = would === 'Hold' || would === 'Leave' || would === 'Refuse' ? ` (${SAID[would]})` : ''
  const why = message === undefined ? [] : wrap(message, 76).map((line) => `    ${line}`)
  const from = source === undefined ? [] : [`    ${paint('dim', harmlessLine(source))}`]
  const more = omittedFields > 0 ? [`    and ${omittedFields} more fields`] : []
  // Every field of a new object is news: the file is the better place to read them.
  const changes = would === 'Create' ? [] : fields.flatMap((change) => fieldLines(change, paint))
  return [paint(colour, `${sign} ${id}${aside}`), ...from, ...why, ...changes, ...(would === 'Create' ? [] : more)]
}

function fieldLines({ path, from, to }: Change, paint: Paint): string[] {
  const before = from === undefined ? [] : [paint('red', `      - ${harmless(from)}`)]
  const after = to === undefined ? [] : [paint('green', `      + ${harmless(to)}`)]
  return [`    ${harmlessLine(path)}`, ...before, ...after]
}
