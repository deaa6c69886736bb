import {
  type Condition,
  nameOf,
  type Workspace,
  type WorkspaceStatus,
  workspaceStateOf,
  workspaceStepsOf,
  workspaceWishOf,
} from '../../api/index.ts'
import { systemClock } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { type OutputOptions, withOutput } from '../options.ts'
import { marked, renderData, table, wrap } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { causeOf } from './progress.ts'
import { markOf, rowOf } from './row.ts'
import { since, until } from './time.ts'
import { commandFor, onWorkspace, withWorkspace } from './workspace.ts'

export const verb = actionVerb({
  description: 'Say everything that is known of a workspace: its state and steps, what is wrong and what helps, what comes next.',
  examples: [
    ['berth describe web -n team-a', 'for people'],
    ['berth describe web -n team-a -o yaml', 'the whole object'],
  ],
  options: (command) => withOutput(withWorkspace(command)),
  run: onWorkspace(async ({ shell, workspace }, { output }: ObjectOptions & OutputOptions) => {
    shell.print(output === 'table' ? describeWorkspace(shell, workspace, systemClock.now()) : renderData(output, workspace))
  }),
})

/** Pure. A workspace in words. */
export function describeWorkspace({ paint }: Pick<Shell, 'paint'>, workspace: Workspace, now: number): string {
  const head = `${marked(markOf(rowOf(workspace)), nameOf(workspace), paint)}: ${workspaceStateOf(workspace)}${stillTo(workspace)}`
  const steps = workspaceStepsOf(workspace)
  const parts = [
    [head, ...failureLines(workspace, now)].join('\n'),
    linesOf(factsOf(workspace, now)),
    steps.length > 0 ? stepTable(steps, workspace) : '',
    remarkLines(workspace),
  ]
  return parts.filter(Boolean).join('\n\n')
}

const stillTo = (workspace: Workspace): string =>
  workspaceWishOf(workspace) === workspaceStateOf(workspace) ? '' : `, is to be ${workspaceWishOf(workspace)}`

function failureLines(workspace: Workspace, now: number): string[] {
  const { failure, waitingFor, waiting } = workspace.status ?? {}
  if (!failure)
    return waitingFor ? wrap(`waits for ${waitingFor}${waiting?.until ? `, until ${waiting.until}` : ''}`, 78).map(indented) : []
  const where = failure.step ? ` in step ${failure.step}` : ''
  const when = failure.since ? `, since ${since(failure.since, now)}` : ''
  const tried = failure.tried ? `; ${failure.tried}` : ''
  const text = `${failure.reason}${where}${when}${tried}: ${causeOf(workspace)}${failure.message}`
  const remedy = failure.remedy ? wrap(`-> ${failure.remedy}`, 78) : []
  return [...wrap(text, 78), ...remedy].map(indented)
}

const indented = (line: string): string => `  ${line}`

type Fact = [name: string, value: string | undefined]

function factsOf(workspace: Workspace, now: number): Fact[] {
  const { spec, status = {}, metadata } = workspace
  const { class: chosen, target, kept } = status
  const shares = (spec.shares ?? []).map(
    ({ name, user, group, ports = [] }) =>
      `${user ?? (group ? `group ${group}` : `link ${name}`)} (${ports.join(', ') || 'no port'})`,
  )
  return [
    ['Owner', spec.owner],
    ['Age', since(metadata.creationTimestamp, now)],
    ['Class', chosen && `${chosen.name}, as of its generation ${chosen.generation}`],
    ['Project', spec.project && `${spec.project.gitProject}${spec.project.ref ? ` at ${spec.project.ref}` : ''}`],
    ['Address', status.url],
    ['Ports', status.ports?.map(({ name, port }) => `${name} ${port}`).join(', ')],
    ['SSH', status.ssh && `${status.ssh.user}@${status.ssh.host}${status.ssh.port === 22 ? '' : `, port ${status.ssh.port}`}`],
    ['Shared with', shares.join('; ')],
    ['Target', target && `${target.name}, namespace ${target.namespace}, by claim ${target.claimName}`],
    ['Runs since', status.startedAt && workspaceStateOf(workspace) === 'Running' ? timed(status.startedAt, now) : undefined],
    [
      'Last used',
      status.lastActivityAt &&
        `${since(status.lastActivityAt, now)} ago${status.lastActivityBy ? `, by ${status.lastActivityBy}` : ''}`,
    ],
    ['Stopped', workspaceStateOf(workspace) === 'Stopped' && status.stoppedAt ? timed(status.stoppedAt, now) : undefined],
    ['Because', status.stoppedBecause],
    ['After it', status.postStop && `postStop ${status.postStop.result}: ${status.postStop.message}`],
    ['Size', status.resources?.running?.map(sizeOf).join('; ')],
    ['Backups', status.backups?.map(({ name, state, since: time }) => `${name} (${state}, ${since(time, now)} ago)`).join(', ')],
    ['Made from', status.restoredFrom && `backup ${status.restoredFrom.name}`],
    ['Kept', kept && Date.parse(kept.until) > now ? `until ${kept.until}` : undefined],
    ['Stops', status.willStopAt && `${until(status.willStopAt, now)}, ${status.willStopAt}: ${status.willStopReason}`],
    ['Starts', status.willStartAt && `${until(status.willStartAt, now)}, ${status.willStartAt}`],
    [
      'Ends',
      status.willTerminateAt && `${until(status.willTerminateAt, now)}, ${status.willTerminateAt}: ${status.willTerminateReason}`,
    ],
    ['Forgotten', status.willDeleteAt && `${until(status.willDeleteAt, now)}, ${status.willDeleteAt}`],
  ]
}

type Size = NonNullable<NonNullable<WorkspaceStatus['resources']>['running']>[number]

/** Guaranteed, and at most; nothing is said of what nobody limits. */
function sizeOf({ container, requests = {}, limits = {} }: Size): string {
  const sides = (['cpu', 'memory'] as const).flatMap((what) =>
    requests[what] === undefined && limits[what] === undefined
      ? []
      : [`${what} ${requests[what] ?? 'any'} to ${limits[what] ?? 'any'}`],
  )
  return `${container}: ${sides.join(', ') || 'no limits'}`
}

const timed = (time: string, now: number): string => `${since(time, now)} ago, ${time}`

function linesOf(facts: Fact[]): string {
  const known = facts.flatMap(([name, value]) => (value ? [{ name, value }] : []))
  const [, ...lines] = table(known, [
    { title: '', of: ({ name }) => name },
    { title: '', of: ({ value }) => value },
  ]).split('\n')
  return lines.join('\n')
}

const stepTable = (steps: Condition[], workspace: Workspace): string =>
  table(steps, [
    { title: 'STEP', of: ({ type }) => type },
    { title: 'DONE', of: ({ status }) => ({ True: 'yes', False: 'no', Unknown: '-' })[status] },
    { title: 'AT', of: ({ lastTransitionTime }) => lastTransitionTime.slice(11, 19) },
    { title: 'WHAT', of: (step) => saidOnce(step, workspace) },
  ])

/** The failure stands at the head already. */
function saidOnce({ message, reason }: Condition, { status }: Workspace): string {
  const at = status?.failure ? message.indexOf(status.failure.message) : -1
  return at < 0 ? message : `${message.slice(0, at)}${reason}, as said above`
}

/** Names the conditions that do not hold: the workspace lacks what was asked for. */
function remarkLines(workspace: Workspace): string {
  const steps = new Set(workspaceStepsOf(workspace).map(({ type }) => type))
  const remarks = (workspace.status?.conditions ?? []).filter(
    ({ type, status }) => status === 'False' && type !== 'Ready' && !steps.has(type),
  )
  const lines = remarks.flatMap((remark) => wrap(`${remark.type}: ${saidOnce(remark, workspace)}`))
  return [...lines, `What was told about it: ${commandFor('events', workspace)}`].join('\n')
}
