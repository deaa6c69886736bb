import { conditionOf, type Workspace } from '../../api/index.ts'
import type { Mark } from '../output.ts'
import { since, until } from './time.ts'
import { desiredOf, stateOf } from './workspace.ts'

/** A workspace as `berth get` shows it. */
export interface Row {
  namespace: string
  name: string
  state: string
  desired: string
  owner: string
  class: string
  url: string
  /** The step that it is in, while it starts or stops. */
  step: string
  /** What went wrong, or what it waits for. */
  reason: string
  message: string
  remedy: string
  createdAt: string
  startedAt: string
  willStopAt: string
  willStopReason: string
  willTerminateAt: string
  willTerminateReason: string
}

export function rowOf(workspace: Workspace): Row {
  const { metadata, spec, status = {} } = workspace
  const ready = conditionOf(status.conditions, 'Ready')
  const { failure, step } = status
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    state: stateOf(workspace),
    desired: desiredOf(workspace),
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

const BAD = ['Failed', 'Error', 'Unknown']

export const markOf = ({ state, reason }: Row): Mark => {
  if (BAD.includes(state)) return 'fail'
  return state === 'Running' || state === 'Stopped' || state === 'Terminated' ? 'ok' : reason === 'NotSeen' ? 'warn' : 'warn'
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
