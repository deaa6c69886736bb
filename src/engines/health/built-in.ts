import { isRecord } from '../../std/index.ts'
import {
  conditionIn,
  degraded,
  fieldsOf,
  firstOf,
  HEALTHY,
  type Health,
  numberOf,
  progressing,
  saying,
  type View,
} from './view.ts'

type Rule = (view: View, now: number) => Health | undefined

/** By `group/Kind`. Where kstatus has a rule for the kind, this is the same one unless it says why not. */
export const BUILT_IN: Record<string, Rule> = {
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
  '/PersistentVolume': volume,
  'networking.k8s.io/Ingress': ingress,
  'autoscaling/HorizontalPodAutoscaler': autoscaler,
  'apiregistration.k8s.io/APIService': apiService,
  'gateway.networking.k8s.io/GatewayClass': gatewayClass,
  'gateway.networking.k8s.io/Gateway': gateway,
  'gateway.networking.k8s.io/HTTPRoute': route,
  'gateway.networking.k8s.io/GRPCRoute': route,
  'gateway.networking.k8s.io/TLSRoute': route,
  'gateway.networking.k8s.io/TCPRoute': route,
  'gateway.networking.k8s.io/UDPRoute': route,
}

function deployment({ spec, status, count, condition }: View): Health {
  const wanted = numberOf(spec.replicas) ?? 1
  const progress = condition('Progressing')
  if (progress?.reason === 'ProgressDeadlineExceeded') return degraded(saying(progress))
  if (Object.keys(status).length === 0) return progressing('was not looked at yet')
  const missing = firstOf([
    [count('replicas') < wanted, `${count('replicas')} of ${wanted} replicas exist`],
    [count('updatedReplicas') < wanted, `${count('updatedReplicas')} of ${wanted} replicas are updated`],
    [count('replicas') > wanted, sayTooMany(count('replicas') - wanted)],
    [count('availableReplicas') < count('updatedReplicas'), `${count('availableReplicas')} of ${wanted} replicas are available`],
    [count('readyReplicas') < wanted, `${count('readyReplicas')} of ${wanted} replicas are ready`],
    [progress !== undefined && progress.reason !== 'NewReplicaSetAvailable', 'its new replica set is not available yet'],
    [condition('Available')?.status !== 'True', 'is not available'],
  ])
  return missing === undefined ? HEALTHY : progressing(missing)
}

const sayTooMany = (more: number): string =>
  more === 1 ? '1 replica too many still runs' : `${more} replicas too many still run`

function statefulSet({ spec, status, count }: View): Health {
  const { updateStrategy } = spec
  if (isRecord(updateStrategy) && updateStrategy.type === 'OnDelete') return HEALTHY
  const wanted = numberOf(spec.replicas) ?? 1
  const rolling = isRecord(updateStrategy) ? fieldsOf(updateStrategy.rollingUpdate) : {}
  const partition = numberOf(rolling.partition) ?? 0
  const missing = firstOf([
    [count('replicas') < wanted, `${count('replicas')} of ${wanted} replicas exist`],
    [count('readyReplicas') < wanted, `${count('readyReplicas')} of ${wanted} replicas are ready`],
    [count('replicas') > wanted, sayTooMany(count('replicas') - wanted)],
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
    [count('replicas') > wanted, sayTooMany(count('replicas') - wanted)],
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

function volume({ status }: View): Health {
  if (status.phase === 'Failed') return degraded(String(status.message ?? 'its reclamation failed'))
  return status.phase === undefined || status.phase === 'Pending' ? progressing('is not available yet') : HEALTHY
}

/**
 * An address is not waited for: many ingress controllers never write one, and a cluster may have none. What a controller
 * reports as an error of a port is believed.
 */
function ingress({ status }: View): Health {
  const points = fieldsOf(status.loadBalancer).ingress
  const ports = (Array.isArray(points) ? points : []).flatMap((point) => fieldsOf(point).ports ?? [])
  const broken = ports.filter(isRecord).find(({ error }) => typeof error === 'string')
  return broken ? degraded(`port ${String(broken.port)}: ${String(broken.error)}`) : HEALTHY
}

function autoscaler({ status, condition }: View): Health {
  const able = condition('AbleToScale')
  if (able?.status === 'False') return degraded(saying(able))
  const active = condition('ScalingActive')
  if (active?.status === 'False')
    return active.reason === 'ScalingDisabled' ? { status: 'Suspended', message: saying(active) } : progressing(saying(active))
  return able === undefined && status.currentReplicas === undefined ? progressing('was not looked at yet') : HEALTHY
}

function apiService({ condition }: View): Health {
  const available = condition('Available')
  if (available?.status === 'True') return HEALTHY
  return progressing(available ? saying(available) : 'is not available yet')
}

/** https://gateway-api.sigs.k8s.io/guides/implementers/#standard-status-fields-and-conditions */

function gatewayClass({ condition }: View): Health {
  const accepted = condition('Accepted')
  if (accepted?.status === 'True') return HEALTHY
  return accepted?.status === 'False' ? degraded(saying(accepted)) : progressing('no controller has accepted it yet')
}

function gateway({ condition }: View): Health {
  const accepted = condition('Accepted')
  if (accepted?.status === 'False') return degraded(saying(accepted))
  const programmed = condition('Programmed')
  if (programmed?.status === 'True') return HEALTHY
  return progressing(programmed ? saying(programmed) : 'no controller has accepted it yet')
}

/** Every parent has to accept a route, and to find what it refers to. */
function route({ status }: View): Health {
  const parents = Array.isArray(status.parents) ? status.parents.filter(isRecord) : []
  if (parents.length === 0) return progressing('no gateway has accepted it yet')
  for (const parent of parents) {
    const refused = ['Accepted', 'ResolvedRefs']
      .map((type) => conditionIn(parent.conditions, type))
      .find((condition) => condition?.status === 'False')
    if (refused) return degraded(saying(refused))
    if (conditionIn(parent.conditions, 'Accepted')?.status !== 'True') return progressing('a gateway has not accepted it yet')
  }
  return HEALTHY
}
