import { conditionOf, type Workspace, workspaceStateOf, workspaceWishOf } from '../../api/index.ts'
import type { FindingMark } from '../output.ts'
import { since, until } from './time.ts'

/** A workspace as `berth get` shows it. `step` is the one that it is in, `reason` what went wrong or what it waits for. */
export function rowOf(workspace: Workspace) {
  const { metadata, spec, status = {} } = workspace
  const ready = conditionOf(status.conditions, 'Ready')
  const { failure, step } = status
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    state: workspaceStateOf(workspace),
    desired: workspaceWishOf(workspace),
    owner: spec.owner ?? '',
    class: status.class?.name ?? spec.workspaceClassName ?? 'default',
    url: status.url ?? '',
    step: step ? [step.name, step.container].filter(Boolean).join(' ') : '',
    reason: failure?.reason ?? status.waiting?.reason ?? ready?.reason ?? 'NotSeen',
    message: failure?.message ?? status.waitingFor ?? ready?.message ?? 'the operator has not looked at it yet',
    remedy: failure?.remedy ?? '',
    createdAt: metadata.creationTimestamp ?? '',
    startedAt: status.startedAt ?? '',
    willStopAt: status.willStopAt ?? '',
    willStopReason: status.willStopReason ?? '',
    willTerminateAt: status.willTerminateAt ?? '',
    willTerminateReason: status.willTerminateReason ?? '',
  }
}

type Row = ReturnType<typeof rowOf>

const BAD = ['Failed', 'Error', 'Unknown']

export const markOf = ({ state }: Row): FindingMark => {
  if (BAD.includes(state)) return 'fail'
  return state === 'Running' || state === 'Stopped' || state === 'Terminated' ? 'ok' : 'warn'
}

/** In a few words: what is next, what it waits for, or what is wrong. */
export function noteOf(workspace: Workspace, now: number): string {
  const row = rowOf(workspace)
  const { status = {} } = workspace
  if (BAD.includes(row.state)) return row.reason
  if (row.state === 'Running' && status.failure) return `changes wait: ${row.reason}`
  if (row.state === 'Running') {
    const end = row.willStopAt || row.willTerminateAt
    const [what, why] = row.willStopAt ? ['stops', row.willStopReason] : ['ends', row.willTerminateReason]
    return end ? `${what} ${until(end, now)} (${why})` : ''
  }
  if (row.state === 'Stopped') {
    const start = status.willStartAt ? `starts ${until(status.willStartAt, now)}` : ''
    const end = row.willTerminateAt ? `ends ${until(row.willTerminateAt, now)} (${row.willTerminateReason})` : ''
    return [status.stoppedBecause?.split(':')[0], start, end].filter(Boolean).join(', ')
  }
  if (status.waitingFor) return `waits: ${row.reason}`
  return row.step ? `${row.step}, ${since(status.step?.since, now)}` : row.reason === row.state ? '' : row.reason
}
