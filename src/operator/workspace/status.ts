import type { Deployment, Statement, Workspace, WorkspaceClassSpec, WorkspaceStatus } from '../../api/index.ts'
import type { Devfile } from '../../devfile/index.ts'
import type { Failure } from '../../std/index.ts'
import { type ActualState, actualStateOf } from './actual-state.ts'
import { isApplyFailure } from './apply.ts'
import type { ChosenClass } from './class.ts'
import { timesOf } from './expiry.ts'
import { hostTemplateOf, portsOf, publishedPorts } from './hosts.ts'
import { type Obstacle, STEPS, type Step } from './obstacle.ts'
import { type Project, remarksOn } from './remarks.ts'
import type { Target } from './target.ts'
import type { Trouble } from './trouble.ts'

/** The status as a reconcile states it: conditions without times. */
export type WorkspaceDraft = Omit<WorkspaceStatus, 'conditions' | 'observedGeneration'> & { conditions: Statement[] }

/** What a reconcile found out, as far as it came. */
export interface Situation {
  chosen?: ChosenClass
  devfile?: Devfile
  target?: Target
  deployment?: Deployment | undefined
  trouble?: Trouble | undefined
  /** Where it had to stop. */
  obstacle?: Obstacle
  project?: Project | undefined
  now: number
}

/** The whole status. Conditions of steps before the obstacle are True, after it Unknown. */
export function statusOf(workspace: Workspace, situation: Situation): WorkspaceDraft {
  const { chosen, target, obstacle, deployment, trouble, now } = situation
  const state = stateIn(workspace, situation)
  const settings = chosen?.settings ?? {}
  const failure = failureIn(state, obstacle, trouble)
  return {
    actualState: state,
    ...addressesOf(workspace, situation, settings),
    ...(failure && { failure }),
    ...waitingFor(obstacle, trouble),
    ...whereOf(workspace, target),
    ...(chosen ? { class: chosen } : workspace.status?.class && { class: workspace.status.class }),
    ...restartedAt(workspace, deployment),
    ...timesOf(state, workspace.status, settings, now),
    conditions: conditionsOf(workspace, situation, state),
  }
}

/** Without a look at the target the last state is only a memory, except before anything was made. */
function stateIn({ status }: Workspace, { deployment, trouble, obstacle }: Situation): ActualState {
  if (!obstacle || deployment) return actualStateOf({ deployment, trouble })
  if (obstacle.step === 'DevfileValid' || obstacle.step === 'Applied') return 'Error'
  return hasBegun(status) ? 'Unknown' : 'CreationRequested'
}

const hasBegun = (status: WorkspaceStatus | undefined): boolean =>
  status?.actualState !== undefined && status.actualState !== 'CreationRequested' && status.target !== undefined

function addressesOf(
  workspace: Workspace,
  { devfile }: Situation,
  settings: WorkspaceClassSpec,
): Pick<WorkspaceStatus, 'url' | 'ports'> {
  if (!devfile) return {}
  const ports = publishedPorts(portsOf(workspace, devfile), hostTemplateOf(workspace, settings))
  const url = ports.find((port) => port.url !== undefined)?.url
  return { ports, ...(url && { url }) }
}

function failureIn(state: ActualState, obstacle: Obstacle | undefined, trouble: Trouble | undefined): WorkspaceStatus['failure'] {
  if (trouble?.fatal && state === 'Failed') {
    const { reason, message, cause, remedy } = trouble
    return { reason, cause, remedy, message }
  }
  if (state === 'Failed') {
    return {
      reason: trouble?.reason ?? 'ProgressDeadlineExceeded',
      cause: trouble?.cause ?? 'Deployment',
      remedy: trouble?.remedy ?? 'Look at the pod in the target; then set desiredState to RestartRequested.',
      message: trouble?.message ?? 'the workspace did not become ready in time',
    }
  }
  if (!obstacle) return undefined
  return { reason: obstacle.reason, cause: obstacle.step, remedy: obstacle.remedy, message: obstacle.message }
}

function waitingFor(obstacle: Obstacle | undefined, trouble: Trouble | undefined): Pick<WorkspaceStatus, 'waitingFor'> {
  const what = obstacle?.waitingFor ?? (trouble && !trouble.fatal ? `${trouble.cause}: ${trouble.message}` : undefined)
  return what ? { waitingFor: what } : {}
}

function whereOf({ status }: Workspace, target: Target | undefined): Pick<WorkspaceStatus, 'target'> {
  if (!target) return status?.target ? { target: status.target } : {}
  const { claimName, name, namespace, apiURL } = target
  return { target: { claimName, name, namespace, apiURL } }
}

function restartedAt({ spec, status }: Workspace, deployment: Deployment | undefined): Pick<WorkspaceStatus, 'restartedAt'> {
  const time = deployment ? spec.restartedAt : status?.restartedAt
  return time ? { restartedAt: time } : {}
}

function conditionsOf(workspace: Workspace, situation: Situation, state: ActualState): Statement[] {
  const { obstacle, chosen } = situation
  const stop = obstacle ? STEPS.indexOf(obstacle.step) : STEPS.length
  const seen = { observedGeneration: workspace.metadata.generation ?? 0 }
  const steps = STEPS.map((type, i): Statement => {
    if (obstacle && i === stop) return { type, status: 'False', reason: obstacle.reason, message: sentence(obstacle), ...seen }
    if (obstacle && i > stop)
      return { type, status: 'Unknown', reason: 'Waiting', message: `waits for ${obstacle.step}`, ...seen }
    return { ...(type === 'DeploymentReady' ? readiness(state, situation) : done(type, situation)), type, ...seen }
  })
  const last = steps.find(({ status }) => status !== 'True')
  const ready: Statement = last
    ? { ...last, type: 'Ready', status: 'False' }
    : { type: 'Ready', status: 'True', reason: 'Running', message: 'the workspace is running', ...seen }
  return [ready, ...steps, ...remarksOn(workspace, chosen, situation.project)]
}

type Said = Omit<Statement, 'type'>

function done(step: Step, { chosen, devfile, target }: Situation): Said {
  const warnings = devfile?.warnings.length
    ? `; ${devfile.warnings.map((each) => `${each.path}: ${each.message}`).join('; ')}`
    : ''
  const said: Partial<Record<Step, [string, string]>> = {
    ClassResolved: ['Resolved', `the settings of WorkspaceClass ${chosen?.name} as of its generation ${chosen?.generation}`],
    DevfileValid: ['Valid', `the devfile is valid${warnings}`],
    TargetReady: ['Connected', `DeploymentTarget ${target?.name}, namespace ${target?.namespace}`],
    Applied: ['Applied', 'all objects are in the target'],
  }
  const [reason, message] = said[step] ?? ['Done', '']
  return { status: 'True', reason, message }
}

function readiness(state: ActualState, { trouble }: Situation): Said {
  if (state === 'Running') return { status: 'True', reason: 'Running', message: 'the pod is ready' }
  if (trouble)
    return { status: 'False', reason: trouble.reason, message: `${trouble.cause}: ${trouble.message}. ${trouble.remedy}` }
  const messages: Partial<Record<ActualState, string>> = {
    Starting: 'the pod is being started',
    Stopping: 'the pod is being stopped',
    Stopped: 'stopped; its volume is kept. Set desiredState to Running to start it',
    Failed: 'the pod did not become ready in time. Set desiredState to RestartRequested to try again',
  }
  return { status: 'False', reason: state, message: messages[state] ?? "the Deployment's status says nothing that is known" }
}

const sentence = ({ message, remedy }: Obstacle): string => `${message}. ${remedy}`

/** After a thrown failure: what was known, and what went wrong. Only a failed apply makes the state Error. */
export function statusAfter(workspace: Workspace, failure: Failure): WorkspaceDraft {
  const { conditions, observedGeneration, failure: before, waitingFor: past, ...known } = workspace.status ?? {}
  const applying = isApplyFailure(failure)
  const reason = failure.reason ?? 'ReconcileFailed'
  const message = failure.code === 'internal' ? "unexpected internal error; the operator's log says more" : failure.message
  const remedy = failure.remedy ?? 'It is tried again by itself.'
  const said = {
    status: 'False',
    reason,
    message: `${message}. ${remedy}`,
    observedGeneration: workspace.metadata.generation ?? 0,
  } as const
  const cause = applying ? 'Applied' : 'Reconcile'
  return {
    ...known,
    actualState: applying ? 'Error' : (known.actualState ?? 'CreationRequested'),
    failure: { reason, cause, remedy, message },
    conditions: [{ type: 'Ready', ...said }, ...(applying ? [{ type: 'Applied', ...said }] : [])],
  }
}
