import type {
  Deployment,
  Pod,
  Statement,
  Workspace,
  WorkspaceClass,
  WorkspaceClassSpec,
  WorkspaceStatus,
} from '../../../api/index.ts'
import type { Devfile } from '../../../devfile/index.ts'
import { defined, type Failure, timestamp } from '../../../std/index.ts'
import { type ActualState, type Assessment, type Step as PodStep, STAGES, type Trouble } from '../actual-state/index.ts'
import { hostTemplateOf, portsOf, publishedPorts } from '../desired/hosts.ts'
import { foundFiles, type GitFindings } from '../git/index.ts'
import { isWanted, timesOf } from '../lifetime/expiry.ts'
import { isApplyFailure } from '../objects/apply-failure.ts'
import type { ChosenClass } from '../place/class.ts'
import { type ConditionStep, type Obstacle, STEPS } from '../place/obstacle.ts'
import type { Target } from '../place/target.ts'
import type { PinnedDevfile } from '../project/devfile-source.ts'
import { type Sizes, sizesInStatus } from '../project/sizes.ts'
import { onObjects, type ProjectFindings, remarksOn } from './remarks.ts'
import { type SshGateway, sshOf } from './ssh.ts'

/** The status as a reconcile states it: conditions without times. */
export type WorkspaceStatusDraft = Omit<WorkspaceStatus, 'conditions' | 'observedGeneration'> & { conditions: Statement[] }

/** The findings of a reconcile, as far as it came. */
export interface WorkspaceFindings {
  chosen?: ChosenClass
  /** The class as it is now. */
  found?: WorkspaceClass | undefined
  devfile?: Devfile
  /** The copy that is kept of it, where it is from elsewhere. */
  pinned?: PinnedDevfile | undefined
  target?: Target
  deployment?: Deployment | undefined
  postStop?: WorkspaceStatus['postStop']
  backups?: WorkspaceStatus['backups']
  restored?: WorkspaceStatus['restoredFrom']
  /** The resources of its containers, and those that are wished. */
  sizes?: Sizes
  /** The frozen ones. */
  variables?: WorkspaceStatus['variables']
  /** Of the Deployment and its pods together. */
  assessment?: Assessment
  /** Where it had to stop. */
  obstacle?: Obstacle
  project?: GitFindings | undefined
  /** All of the workspace. */
  pods?: readonly Pod[]
  gateway?: SshGateway | undefined
  now: number
}

/** The whole status. Conditions of steps before the obstacle are True, after it Unknown. */
export function statusOf(workspace: Workspace, findings: WorkspaceFindings): WorkspaceStatusDraft {
  const { spec, status: before } = workspace
  const { chosen, target, deployment, assessment, now } = findings
  const state = stateIn(workspace, findings)
  // An obstacle to running is no failure of a workspace that is stopped.
  const obstacle = assessment && !isWanted(workspace) ? undefined : findings.obstacle
  return {
    actualState: state,
    ...addressesOf(workspace, findings, chosen?.settings ?? {}),
    ...waitingFor(obstacle, assessment?.trouble),
    ...defined({
      failure: failureIn(state, obstacle, assessment?.trouble),
      step: assessment?.step && stepIn(assessment.step),
      ssh: sshOf(workspace, findings.gateway, chosen?.settings),
      target: target ? targetIn(target) : before?.target,
      // Kept while nobody has looked, and given up with the wish for it.
      devfile: findings.devfile ? findings.pinned : before?.devfile,
      project: findings.project?.known,
      class: chosen ?? before?.class,
      resources: resourcesIn(workspace, findings),
      restartedAt: deployment ? spec.restartedAt : before?.restartedAt,
      variables: findings.variables ?? before?.variables,
      postStop: findings.postStop ?? before?.postStop,
      backups: findings.backups ?? before?.backups,
      restoredFrom: findings.restored ?? before?.restoredFrom,
    }),
    ...(chosen && timesOf(workspace, state, chosen.settings, now)),
    conditions: conditionsOf(workspace, findings, state),
  }
}

/** Without a look at the target the last state is only a memory, except before anything was made. */
function stateIn({ status }: Workspace, { assessment, obstacle }: WorkspaceFindings): ActualState {
  if (assessment) return assessment.state
  if (obstacle?.isUnderWay && hasBegun(status)) return status?.actualState ?? 'Starting'
  if (obstacle?.isUnderWay) return obstacle.step === 'DevfileValid' ? 'CreationRequested' : 'Starting'
  if (obstacle?.step === 'DevfileValid' || obstacle?.step === 'Applied') return 'Error'
  return hasBegun(status) ? 'Unknown' : 'CreationRequested'
}

const hasBegun = (status: WorkspaceStatus | undefined): boolean =>
  status?.actualState !== undefined && status.actualState !== 'CreationRequested' && status.target !== undefined

function addressesOf(
  workspace: Workspace,
  { devfile, assessment }: WorkspaceFindings,
  settings: WorkspaceClassSpec,
): Pick<WorkspaceStatus, 'url' | 'ports'> {
  if (!devfile) {
    // A running workspace has the address that it was made with.
    const { url, ports } = (assessment && workspace.status) ?? {}
    return defined({ url, ports })
  }
  const ports = publishedPorts(portsOf(workspace, devfile, settings), hostTemplateOf(workspace, settings))
  return defined({ ports, url: ports.find((port) => port.url !== undefined)?.url })
}

function failureIn(state: ActualState, obstacle: Obstacle | undefined, trouble: Trouble | undefined): WorkspaceStatus['failure'] {
  if (trouble && state === 'Failed') {
    const { reason, message, cause, remedy, tried, since } = trouble
    return { reason, step: placeOf(trouble), since: timestamp(since), cause, message, ...(tried && { tried }), remedy }
  }
  if (!obstacle || obstacle.isUnderWay) return undefined
  return { reason: obstacle.reason, cause: obstacle.step, remedy: obstacle.remedy, message: obstacle.message }
}

const stepIn = ({ name, container, since }: PodStep): NonNullable<WorkspaceStatus['step']> => ({
  name,
  ...(container !== undefined && { container }),
  since: timestamp(since),
})

const placeOf = ({ step, container }: Trouble): string => (container ? `${step} of container ${container}` : step)

function waitingFor(
  obstacle: Obstacle | undefined,
  trouble: Trouble | undefined,
): Pick<WorkspaceStatus, 'waitingFor' | 'waiting'> {
  if (obstacle?.waitingFor) return { waitingFor: obstacle.waitingFor }
  if (!trouble || trouble.fatal) return {}
  const { reason, since, until, cause, message } = trouble
  const waiting = { reason, since: timestamp(since), ...(until !== undefined && { until: timestamp(until) }) }
  return { waitingFor: `${cause}: ${message}`, waiting }
}

const targetIn = ({ claimName, name, namespace, apiURL }: Target) => ({ claimName, name, namespace, apiURL })

/** Told once they are in the target. */
function resourcesIn(
  { status }: Workspace,
  { sizes, chosen, deployment, assessment }: WorkspaceFindings,
): WorkspaceStatus['resources'] {
  if (!sizes || !deployment) return status?.resources
  return sizesInStatus(sizes, chosen?.settings ?? {}, assessment?.state !== 'Stopped')
}

function conditionsOf(workspace: Workspace, findings: WorkspaceFindings, state: ActualState): Statement[] {
  const { obstacle } = findings
  // A workspace without a project has no such step.
  const path: readonly ConditionStep[] = workspace.spec.project ? STEPS : STEPS.filter((step) => step !== 'ProjectFound')
  const applied = path.indexOf('Applied')
  const stop = obstacle ? path.indexOf(obstacle.step) : path.length
  const seen = { observedGeneration: workspace.metadata.generation ?? 0 }
  const steps = path.map((type, i): Statement => {
    if (obstacle && i === stop) return { type, status: 'False', reason: obstacle.reason, message: sentence(obstacle), ...seen }
    if (obstacle && i > stop && (!findings.assessment || i <= applied))
      return { type, status: 'Unknown', reason: 'Waiting', message: `waits for ${obstacle.step}`, ...seen }
    return { ...told(type, state, findings), type, ...seen }
  })
  // With an obstacle before it, what there is says whether it can be used: it is as it was made before.
  const last = steps.find(({ status }, i) => status !== 'True' && (!findings.assessment || i > applied))
  const ready: Statement = last
    ? { ...last, type: 'Ready', status: 'False' }
    : { type: 'Ready', status: 'True', reason: 'Running', message: 'the workspace is running', ...seen }
  const project = projectIn(findings)
  return [ready, ...steps, ...remarksOn(workspace, { ...findings, project })]
}

/** It is cloned before anything else of the pod runs. */
function projectIn({ project, assessment, pods = [] }: WorkspaceFindings): ProjectFindings | undefined {
  const isPrepared = project?.git !== undefined && (assessment?.stages ?? 0) > STAGES.indexOf('PodInitialized')
  return project && { ...project, isPrepared, hadFiles: isPrepared && foundFiles(pods) }
}

type Said = Omit<Statement, 'type'>

function told(step: ConditionStep, state: ActualState, findings: WorkspaceFindings): Said {
  const stage = stageIn(step)
  if (stage < 0) return step === 'DeploymentReady' ? readiness(state, findings) : done(step, findings)
  const isDone = stage < (findings.assessment?.stages ?? 0)
  return isDone ? { status: 'True', reason: 'Done', message: STAGE_DONE[stage] ?? '' } : readiness(state, findings)
}

const stages: readonly string[] = STAGES
const stageIn = (step: ConditionStep): number => stages.indexOf(step)

/** By the order of the stages. */
const STAGE_DONE = [
  'the target has made the pod',
  'the pod has a node',
  'its volumes are mounted and its network is there',
  'its init containers are done',
  'its containers run',
]

function done(step: ConditionStep, { chosen, devfile, target, project }: WorkspaceFindings): Said {
  const warnings = devfile?.warnings.length
    ? `; ${devfile.warnings.map((each) => `${each.path}: ${each.message}`).join('; ')}`
    : ''
  const words: Partial<Record<ConditionStep, [string, string]>> = {
    ClassResolved: ['Resolved', `the settings of WorkspaceClass ${chosen?.name} as of its generation ${chosen?.generation}`],
    ProjectFound: ['Found', `GitProject ${project?.name}${project?.isThere ? '' : ', as it was when it was there'}`],
    DevfileValid: ['Valid', `the devfile is valid${warnings}`],
    TargetReady: ['Connected', `DeploymentTarget ${target?.name}, namespace ${target?.namespace}`],
    Applied: ['Applied', 'all objects are in the target'],
  }
  const [reason, message] = words[step] ?? ['Done', '']
  return { status: 'True', reason, message }
}

/** Of whatever is not done yet: the trouble in one line, or the step that is under way. */
function readiness(state: ActualState, { assessment }: WorkspaceFindings): Said {
  const { trouble, step } = assessment ?? {}
  if (state === 'Running') return { status: 'True', reason: 'Running', message: 'the pod is ready' }
  if (trouble) return { status: 'False', reason: trouble.reason, message: lineOf(trouble) }
  const messages: Partial<Record<ActualState, string>> = {
    Starting: step ? `the pod is being started: ${underWay(step)}` : 'the pod is being started',
    Stopping: 'the pod is being stopped',
    Stopped: 'stopped; its volume is kept. Set desiredState to Running to start it',
  }
  return { status: 'False', reason: state, message: messages[state] ?? "the Deployment's status says nothing that is known" }
}

/** The cause, its step, the tries so far, and the remedy in one line. */
function lineOf(trouble: Trouble): string {
  const { cause, message, tried, until, fatal, remedy } = trouble
  const waits = fatal ? undefined : until === undefined ? 'it is waited for' : `it is waited for until ${timestamp(until)}`
  const facts = [`step ${placeOf(trouble)}`, tried, waits].filter(Boolean).join('; ')
  return `${cause} (${facts}): ${message.replace(/\.$/, '')}. ${remedy}`
}

const UNDER_WAY: Record<PodStep['name'], string> = {
  Admission: 'the target makes it',
  Scheduling: 'it is given a node',
  Volume: 'its volumes are mounted and its network is set up',
  Sandbox: 'its network is set up',
  Image: 'the image is pulled and the container is created, with its postStart command',
  InitContainer: 'it is prepared',
  ContainerStart: 'the container is created',
  PostStart: 'its postStart command runs',
  Probes: 'its containers run and become ready',
  Run: 'its containers run',
  Stop: 'it ends',
  PostStop: 'its postStop commands run',
}

const underWay = ({ name, container }: PodStep): string => `${UNDER_WAY[name]}${container ? ` (${container})` : ''}`

const sentence = ({ message, remedy }: Obstacle): string => `${message}. ${remedy}`

/**
 * After a thrown failure: what was known, and what went wrong. Only a failed apply makes the state Error, and only where nothing
 * runs that was made before.
 */
export function statusAfter(
  workspace: Workspace,
  failure: Failure,
  { stands, gateway }: { stands?: Assessment | undefined; gateway?: SshGateway | undefined } = {},
): WorkspaceStatusDraft {
  const {
    conditions,
    observedGeneration,
    failure: before,
    waitingFor: past,
    waiting,
    step,
    ssh,
    ...known
  } = workspace.status ?? {}
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
  const obstacle: Obstacle = { step: 'Applied', reason, message, remedy }
  return {
    ...known,
    actualState: applying ? (stands?.state ?? 'Error') : (known.actualState ?? 'CreationRequested'),
    failure: { reason, cause, remedy, message },
    ...defined({ ssh: sshOf(workspace, gateway) }),
    conditions: [
      ...(stands?.state === 'Running' ? [] : [{ type: 'Ready', ...said }]),
      ...(applying ? [{ type: 'Applied', ...said }, ...onObjects(workspace, { obstacle, assessment: stands })] : []),
    ],
  }
}
