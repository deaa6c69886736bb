import type {
  ContainerState,
  ContainerStatus,
  CoreCondition,
  CoreEvent,
  Deployment,
  PersistentVolumeClaim,
  Pod,
} from '../../../../src/api/index.ts'
import type { ActualState, Evidence, StepName, TroubleReason } from '../../../../src/operator/workspace/actual-state/index.ts'
import { timestamp } from '../../../../src/std/index.ts'

/** One fixture: a set of objects as a cluster shows them, and what is to be said of it. */
export interface Row {
  /** The rule, in the present tense. */
  why: string
  given: Omit<Evidence, 'now'>
  state: ActualState
  /** Without it nothing may be wrong. */
  reason?: TroubleReason
  /** `Image tools`: the step, and the container where it is about one. */
  step?: `${StepName}${'' | ` ${string}`}`
  /** In how many seconds the wait is over; `never` where nothing ends it, absent where it is over or there is none. */
  until?: number | 'never'
  /** What the cause, the message and what was tried say together. */
  says?: RegExp
  /** What is to be done about it. */
  heals?: RegExp
}

export const NOW = Date.parse('2026-03-01T12:00:00Z')
/** The time so many seconds before the look. */
export const ago = (seconds: number): string => timestamp(NOW - seconds * 1000)

export const NEW = 'NewReplicaSetAvailable'
export const UP = 'MinimumReplicasAvailable'
export const DOWN = 'MinimumReplicasUnavailable'
export const DEADLINE = 'ProgressDeadlineExceeded'

interface Given {
  progress?: string | undefined
  available?: string | undefined
  wanted?: number | undefined
  up?: number
  down?: number
  /** Message of the condition ReplicaFailure. */
  refused?: string
  /** Since when it is not available, seconds. */
  downFor?: number
  seen?: number | undefined
  age?: number
}

const condition = (type: string, reason: string | undefined, more: Partial<CoreCondition> = {}): CoreCondition[] =>
  reason === undefined ? [] : [{ type, status: 'True', ...(reason && { reason }), lastTransitionTime: ago(60), ...more }]

export const deployment = (given: Given): Deployment => {
  const { progress, available, wanted, up, down, refused, downFor = 60, age = 90 } = given
  const seen = 'seen' in given ? given.seen : 3
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'workspace-web', namespace: 'team-a', generation: 3, creationTimestamp: ago(age) },
    spec: { ...(wanted !== undefined && { replicas: wanted }), progressDeadlineSeconds: 600, selector: {}, template: {} },
    status: {
      ...(seen !== undefined && { observedGeneration: seen }),
      ...(up !== undefined && { availableReplicas: up }),
      ...(down !== undefined && { unavailableReplicas: down }),
      conditions: [
        ...condition('Available', available, {
          status: available === DOWN ? 'False' : 'True',
          lastTransitionTime: ago(downFor),
        }),
        ...condition('ReplicaFailure', refused && 'FailedCreate', { ...(refused && { message: refused }) }),
        ...condition('Progressing', progress, progress === DEADLINE ? { status: 'False', message: TIMED_OUT } : {}),
      ],
    },
  }
}
const TIMED_OUT = 'ReplicaSet "workspace-web-7d4b9c6f5" has timed out progressing.'

/** Deployments of an ordinary life. */
export const running = deployment({ progress: NEW, available: UP, wanted: 1, up: 1 })
export const starting = deployment({ progress: 'ReplicaSetUpdated', available: DOWN, wanted: 1, up: 0, down: 1 })
/** It was up, and is not any more. */
export const fallen = deployment({ progress: NEW, available: DOWN, wanted: 1, up: 0, down: 1 })
export const stopping = deployment({ progress: NEW, available: UP, wanted: 0, up: 1 })
export const stopped = deployment({ progress: NEW, available: UP, wanted: 0, up: 0 })
export const timedOut = deployment({ progress: DEADLINE, available: DOWN, wanted: 1, up: 0, down: 1 })
export const refused = (message: string): Deployment =>
  deployment({ progress: 'NewReplicaSetCreated', available: DOWN, wanted: 1, up: 0, down: 1, refused: message })

export const container = (name: string, state: ContainerState = {}, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name,
  image: 'registry.example.com/team/tools:1',
  ready: false,
  restartCount: 0,
  state,
  ...more,
})
export const waiting = (reason: string, message?: string): ContainerState => ({
  waiting: { reason, ...(message !== undefined && { message }) },
})
export const creating = container('tools', waiting('ContainerCreating'))
export const live = (more: Partial<ContainerStatus> = {}): ContainerStatus =>
  container('tools', { running: { startedAt: ago(30) } }, more)
export const exit = (exitCode: number, reason = exitCode === 0 ? 'Completed' : 'Error', message?: string): ContainerState => ({
  terminated: { exitCode, reason, startedAt: ago(25), finishedAt: ago(20), ...(message !== undefined && { message }) },
})
/** Waits before it is started again, having ended so. */
export const looping = (ended: ContainerState, restartCount = 4, name = 'tools'): ContainerStatus =>
  container(name, waiting('CrashLoopBackOff', 'back-off 1m20s restarting failed container'), { lastState: ended, restartCount })

interface GivenPod {
  name?: string
  age?: number
  node?: string | undefined
  main?: ContainerStatus[]
  /** The containers as they were asked for, where more of them counts than one name. */
  asked?: NonNullable<Pod['spec']>['containers']
  init?: ContainerStatus[]
  conditions?: CoreCondition[]
  status?: NonNullable<Pod['status']>
  /** Seconds since its grace period was over. */
  late?: number
  finalizers?: string[]
}

export const is = (type: string, status: string, more: Partial<CoreCondition> = {}): CoreCondition => ({
  type,
  status,
  lastTransitionTime: ago(60),
  ...more,
})
export const NODE = is('PodScheduled', 'True')
/** The kubelet has mounted the volumes and set up the network. */
export const SET_UP = is('PodReadyToStartContainers', 'True')

/** A pod of a minute, on a node, of which nothing is known yet. */
export const pod = (given: GivenPod = {}): Pod => {
  const { name = 'workspace-web-1', age = 60, main = [], init = [], conditions = [NODE], status, late, finalizers } = given
  const { asked = [{ name: 'tools' }] } = given
  const node = 'node' in given ? given.node : 'node-1'
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'team-a',
      uid: `uid-${name}`,
      creationTimestamp: ago(age),
      ...(late !== undefined && { deletionTimestamp: ago(late) }),
      ...(finalizers && { finalizers }),
    },
    spec: {
      ...(node && { nodeName: node }),
      volumes: [{ name: 'workspace-data', persistentVolumeClaim: { claimName: 'workspace-web' } }],
      containers: asked,
      ...(init.length > 0 && { initContainers: init.map((each) => ({ name: each.name })) }),
    },
    status: { phase: 'Pending', conditions, containerStatuses: main, initContainerStatuses: init, ...status },
  }
}

/** A pod that no node takes, with the scheduler's words for it. */
export const homeless = (message: string, since = 60, reason = 'Unschedulable'): Pod =>
  pod({
    node: undefined,
    age: since,
    conditions: [is('PodScheduled', 'False', { reason, message, lastTransitionTime: ago(since) })],
  })

export const volume = (status: PersistentVolumeClaim['status'] = { phase: 'Pending' }, storageClassName?: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'workspace-web', namespace: 'team-a', uid: 'uid-volume', creationTimestamp: ago(60) },
  spec: { ...(storageClassName && { storageClassName }) },
  status,
})

interface GivenEvent {
  on?: string
  container?: string
  count?: number
  first?: number
  last?: number
}

/** A warning of a minute, said again just now. */
export const event = (reason: string, message: string, given: GivenEvent = {}): CoreEvent => {
  const { on = 'uid-workspace-web-1', container: about, count, first = 60, last = 2 } = given
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${reason}.1`, namespace: 'team-a' },
    involvedObject: { uid: on, ...(about && { fieldPath: `spec.containers{${about}}` }) },
    type: 'Warning',
    reason,
    message,
    firstTimestamp: ago(first),
    lastTimestamp: ago(last),
    ...(count && { count }),
  }
}
