import type { AnyObject } from '../../api/index.ts'
import { isRecord } from '../../std/index.ts'

export type HealthStatus = 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended' | 'Missing' | 'Unknown'

export interface Health {
  status: HealthStatus
  /** Why, when it is not healthy. */
  message?: string
}

const HEALTHY: Health = { status: 'Healthy' }
const progressing = (message: string): Health => ({ status: 'Progressing', message })
const degraded = (message: string): Health => ({ status: 'Degraded', message })

/** How an object does, by the rules of kstatus: first what is true of every kind, then the kind's own, then its Ready condition. */
export function healthOf(object: AnyObject | undefined, now: number): Health {
  if (!object) return { status: 'Missing', message: 'is not there' }
  return general(object) ?? RULES[ruleOf(object)]?.(viewOf(object), now) ?? byReady(object)
}

/** Rules are for the built-in kinds only: somebody's own `Service` is judged by its Ready condition. */
const ruleOf = ({ apiVersion, kind }: AnyObject): string => `${apiVersion.replace(/\/?v\d\w*$/, '')}/${kind}`

/** The worst first. */
const WORST: HealthStatus[] = ['Degraded', 'Missing', 'Progressing', 'Unknown', 'Suspended', 'Healthy']

export const worse = (a: HealthStatus, b: HealthStatus): HealthStatus => (WORST.indexOf(a) <= WORST.indexOf(b) ? a : b)

interface Condition {
  type: string
  status: string
  reason: string
  message: string
}

/** Conditions of any object, whatever its schema. */
export function conditionOf(object: AnyObject, type: string): Condition | undefined {
  const list = fieldsOf(object.status).conditions
  const found = Array.isArray(list) ? list.filter(isRecord).find((condition) => condition.type === type) : undefined
  return (
    found && {
      type,
      status: String(found.status),
      reason: String(found.reason ?? ''),
      message: String(found.message ?? ''),
    }
  )
}

/** Spec and status with numbers where numbers are meant. */
interface View {
  object: AnyObject
  spec: Record<string, unknown>
  status: Record<string, unknown>
  count(field: string): number
  condition(type: string): Condition | undefined
}

type Rule = (view: View, now: number) => Health | undefined

function viewOf(object: AnyObject): View {
  const status = fieldsOf(object.status)
  return {
    object,
    spec: fieldsOf(object.spec),
    status,
    count: (field) => numberOf(status[field]) ?? 0,
    condition: (type) => conditionOf(object, type),
  }
}

function general(object: AnyObject): Health | undefined {
  const { deletionTimestamp, generation } = object.metadata
  if (deletionTimestamp !== undefined) return progressing(`is being deleted since ${deletionTimestamp}`)
  const observed = numberOf(fieldsOf(object.status).observedGeneration)
  if (observed !== undefined && generation !== undefined && observed !== generation)
    return progressing('its latest change was not looked at yet')
  const reconciling = conditionOf(object, 'Reconciling')
  if (reconciling?.status === 'True') return progressing(saying(reconciling))
  const stalled = conditionOf(object, 'Stalled')
  if (stalled?.status === 'True') return degraded(saying(stalled))
  return undefined
}

function byReady(object: AnyObject): Health {
  const ready = conditionOf(object, 'Ready')
  return ready === undefined || ready.status === 'True' ? HEALTHY : progressing(saying(ready))
}

const RULES: Record<string, Rule> = {
  'apps/Deployment': deployment,
  'apps/StatefulSet': statefulSet,
  'apps/DaemonSet': daemonSet,
  'apps/ReplicaSet': replicaSet,
  'batch/Job': job,
  '/Pod': pod,
  '/Service': service,
  '/PersistentVolumeClaim': ({ status }) =>
    status.phase === 'Bound'
      ? HEALTHY
      : status.phase === 'Lost'
        ? degraded('its volume is lost')
        : progressing('is not bound to a volume yet'),
  'apiextensions.k8s.io/CustomResourceDefinition': definition,
  '/Namespace': ({ status }) => (status.phase === 'Active' ? HEALTHY : progressing('is not active yet')),
}

function deployment({ spec, status, count, condition }: View): Health {
  const wanted = numberOf(spec.replicas) ?? 1
  const progress = condition('Progressing')
  if (progress?.reason === 'ProgressDeadlineExceeded') return degraded(saying(progress))
  if (Object.keys(status).length === 0) return progressing('was not looked at yet')
  const missing = firstOf([
    [count('replicas') < wanted, `${count('replicas')} of ${wanted} replicas exist`],
    [count('updatedReplicas') < wanted, `${count('updatedReplicas')} of ${wanted} replicas are updated`],
    [count('replicas') > wanted, `${count('replicas') - wanted} replicas too many still run`],
    [count('availableReplicas') < count('updatedReplicas'), `${count('availableReplicas')} of ${wanted} replicas are available`],
    [count('readyReplicas') < wanted, `${count('readyReplicas')} of ${wanted} replicas are ready`],
    [progress !== undefined && progress.reason !== 'NewReplicaSetAvailable', 'its new replica set is not available yet'],
    [condition('Available')?.status !== 'True', 'is not available'],
  ])
  return missing === undefined ? HEALTHY : progressing(missing)
}

function statefulSet({ spec, status, count }: View): Health {
  const { updateStrategy } = spec
  if (isRecord(updateStrategy) && updateStrategy.type === 'OnDelete') return HEALTHY
  const wanted = numberOf(spec.replicas) ?? 1
  const rolling = isRecord(updateStrategy) ? fieldsOf(updateStrategy.rollingUpdate) : {}
  const partition = numberOf(rolling.partition) ?? 0
  const missing = firstOf([
    [count('replicas') < wanted, `${count('replicas')} of ${wanted} replicas exist`],
    [count('readyReplicas') < wanted, `${count('readyReplicas')} of ${wanted} replicas are ready`],
    [count('replicas') > wanted, `${count('replicas') - wanted} replicas too many still run`],
    [
      partition > 0 && count('updatedReplicas') < wanted - partition,
      `${count('updatedReplicas')} of ${wanted - partition} replicas are updated`,
    ],
    [partition === 0 && count('currentReplicas') < wanted, `${count('currentReplicas')} of ${wanted} replicas are current`],
    [partition === 0 && status.currentRevision !== status.updateRevision, 'its new revision is not everywhere yet'],
  ])
  return missing === undefined ? HEALTHY : progressing(missing)
}

function daemonSet({ object, status, count }: View): Health {
  const wanted = numberOf(status.desiredNumberScheduled)
  if (object.metadata.generation === undefined || status.observedGeneration === undefined || wanted === undefined)
    return progressing('was not looked at yet')
  const missing = firstOf([
    [count('currentNumberScheduled') < wanted, `${count('currentNumberScheduled')} of ${wanted} pods are scheduled`],
    [count('updatedNumberScheduled') < wanted, `${count('updatedNumberScheduled')} of ${wanted} pods are updated`],
    [count('numberAvailable') < wanted, `${count('numberAvailable')} of ${wanted} pods are available`],
    [count('numberReady') < wanted, `${count('numberReady')} of ${wanted} pods are ready`],
  ])
  return missing === undefined ? HEALTHY : progressing(missing)
}

function replicaSet({ spec, count, condition }: View): Health {
  const wanted = numberOf(spec.replicas) ?? 1
  const failure = condition('ReplicaFailure')
  if (failure?.status === 'True') return progressing(saying(failure))
  const missing = firstOf([
    [count('fullyLabeledReplicas') < wanted, `${count('fullyLabeledReplicas')} of ${wanted} replicas are labelled`],
    [count('availableReplicas') < wanted, `${count('availableReplicas')} of ${wanted} replicas are available`],
    [count('readyReplicas') < wanted, `${count('readyReplicas')} of ${wanted} replicas are ready`],
    [count('replicas') > wanted, `${count('replicas') - wanted} replicas too many still run`],
  ])
  return missing === undefined ? HEALTHY : progressing(missing)
}

/** Unlike kstatus, and like Flux: a Job that runs is not done. */
function job({ spec, status, condition }: View): Health {
  const failed = condition('Failed')
  if (failed?.status === 'True') return degraded(saying(failed))
  if (condition('Complete')?.status === 'True' || spec.suspend === true) return HEALTHY
  return progressing(status.startTime === undefined ? 'has not started yet' : 'runs')
}

/** A pod that cannot be placed for this long will not be placed by waiting. */
const UNSCHEDULABLE = 15_000

function pod({ status, condition }: View, now: number): Health {
  switch (status.phase) {
    case 'Succeeded':
    case 'Failed':
      return HEALTHY
    case 'Running': {
      if (condition('Ready')?.status === 'True') return HEALTHY
      const crashing = waitingContainers(status).find(({ reason }) => reason === 'CrashLoopBackOff')
      return crashing ? degraded(`container ${crashing.name} crashes again and again`) : progressing('is not ready')
    }
    case 'Pending':
      return isStuck(status, now)
        ? degraded(condition('PodScheduled')?.message ?? 'cannot be scheduled')
        : progressing('is pending')
    default:
      return progressing('was not looked at yet')
  }
}

function isStuck(status: Record<string, unknown>, now: number): boolean {
  const conditions = Array.isArray(status.conditions) ? status.conditions.filter(isRecord) : []
  const scheduled = conditions.find((condition) => condition.type === 'PodScheduled')
  return (
    scheduled?.status === 'False' &&
    scheduled.reason === 'Unschedulable' &&
    now - Date.parse(String(scheduled.lastTransitionTime)) >= UNSCHEDULABLE
  )
}

function waitingContainers(status: Record<string, unknown>): { name: string; reason: string }[] {
  const list = status.containerStatuses
  return (Array.isArray(list) ? list.filter(isRecord) : []).map(({ name, state }) => ({
    name: String(name),
    reason: String(fieldsOf(fieldsOf(state).waiting).reason ?? ''),
  }))
}

function service({ spec }: View): Health {
  return spec.type === 'LoadBalancer' && !spec.clusterIP ? progressing('has no cluster IP yet') : HEALTHY
}

function definition({ condition }: View): Health {
  const names = condition('NamesAccepted')
  if (names?.status === 'False') return degraded(saying(names))
  const served = condition('Established')
  if (served?.status === 'True') return HEALTHY
  return served?.status === 'False' && served.reason !== 'Installing'
    ? degraded(saying(served))
    : progressing('is not established yet')
}

const saying = ({ type, reason, message }: Condition): string => message || reason || type
const firstOf = (checks: [boolean, string][]): string | undefined => checks.find(([holds]) => holds)?.[1]
const fieldsOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
