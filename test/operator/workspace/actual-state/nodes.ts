import type { Pod } from '../../../../src/api/index.ts'
import {
  ago,
  DEADLINE,
  deployment,
  event,
  fallen,
  homeless,
  is,
  live,
  NODE,
  pod,
  type Row,
  starting,
  stopped,
  stopping,
} from './objects.ts'

const silent = (since: number): Pod =>
  pod({ age: 4000, main: [live({ ready: true })], conditions: [NODE, is('Ready', 'False', { lastTransitionTime: ago(since) })] })
const over = (status: NonNullable<Pod['status']>, name = 'workspace-web-0', age = 30): Pod =>
  pod({ name, age, conditions: [], status: { phase: 'Failed', startTime: ago(age), ...status } })
const next = pod({ age: 5 })

export const NODES: Row[] = [
  {
    why: 'node: a phase that nobody knows',
    given: { deployment: fallen, pods: [pod({ main: [live()], status: { phase: 'Unknown' } })] },
    state: 'Starting',
    reason: 'NodeGone',
    step: 'Run',
    until: 300,
  },
  {
    why: 'node: every container ready and the pod not: its node is silent',
    given: { deployment: fallen, pods: [silent(20)] },
    state: 'Starting',
    reason: 'NodeGone',
    step: 'Run',
    until: 280,
    says: /^Pod workspace-web-1 on node node-1 is on a node that does not answer/,
  },
  {
    why: 'node: silent for five minutes',
    given: { deployment: fallen, pods: [silent(300)] },
    state: 'Failed',
    reason: 'NodeGone',
    step: 'Run',
    says: /waited 5 minutes/,
  },
  {
    why: 'node: readiness gates are another matter',
    given: {
      deployment: fallen,
      pods: [
        { ...silent(20), spec: { ...silent(20).spec, containers: [], readinessGates: [{ conditionType: 'example.com/ready' }] } },
      ],
    },
    state: 'Starting',
    step: 'Probes',
  },
  {
    why: 'node: as older control planes say it',
    given: {
      deployment: fallen,
      pods: [
        pod({
          main: [live()],
          status: {
            phase: 'Unknown',
            reason: 'NodeLost',
            message: 'Node node-1 which was running pod workspace-web-1 is unresponsive',
          },
          conditions: [NODE, is('Ready', 'Unknown')],
        }),
      ],
    },
    state: 'Starting',
    reason: 'NodeGone',
    step: 'Run',
    until: 240,
    says: /is unresponsive/,
  },
  {
    why: 'node: as the node controller says it',
    given: {
      deployment: fallen,
      pods: [pod({ main: [live()], conditions: [NODE, is('Ready', 'False')] })],
      events: [event('NodeNotReady', 'Node is not ready')],
    },
    state: 'Starting',
    reason: 'NodeGone',
    step: 'Run',
    until: 240,
  },
  {
    why: 'node: one whose pods are being removed',
    given: {
      deployment: fallen,
      pods: [pod({ main: [live()], conditions: [NODE, is('DisruptionTarget', 'True', { reason: 'DeletionByTaintManager' })] })],
    },
    state: 'Starting',
    reason: 'NodeGone',
    step: 'Run',
    until: 300,
  },
  {
    why: 'eviction: a node that ran short of memory',
    given: {
      deployment: fallen,
      pods: [
        over({ reason: 'Evicted', message: 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi.' }),
      ],
    },
    state: 'Starting',
    reason: 'Evicted',
    step: 'Run',
    until: 300,
    says: /^Pod workspace-web-0 on node node-1 was evicted.*low on resource: memory/,
  },
  {
    why: 'eviction: the next pod is told why it is there',
    given: {
      deployment: fallen,
      pods: [over({ reason: 'Evicted', message: 'The node was low on resource: ephemeral-storage.' }), next],
    },
    state: 'Starting',
    reason: 'Evicted',
    step: 'Run',
    until: 300,
  },
  {
    why: 'eviction: it is forgotten when the next pod runs',
    given: { deployment: fallen, pods: [over({ reason: 'Evicted' }), pod({ age: 5, main: [live()] })] },
    state: 'Starting',
    step: 'Probes',
  },
  {
    why: 'eviction: it is forgotten after five minutes',
    given: { deployment: fallen, pods: [over({ reason: 'Evicted' }, 'workspace-web-0', 301), next] },
    state: 'Starting',
    step: 'Volume',
  },
  {
    why: 'eviction: what keeps the next pod comes first',
    given: {
      deployment: fallen,
      pods: [over({ reason: 'Evicted' }), homeless('0/3 nodes are available: 3 Insufficient cpu.', 20)],
    },
    state: 'Starting',
    reason: 'Unschedulable',
    step: 'Scheduling',
    until: 280,
  },
  {
    why: 'eviction: more written than the pod may',
    given: {
      deployment: fallen,
      pods: [
        over({ reason: 'Evicted', message: 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.' }),
      ],
    },
    state: 'Starting',
    reason: 'StorageLimitExceeded',
    step: 'Run',
    until: 120,
  },
  {
    why: 'eviction: more written than the volume may hold',
    given: {
      deployment: fallen,
      pods: [over({ reason: 'Evicted', message: 'Usage of EmptyDir volume "volume-cache" exceeds the limit "1Gi".' })],
    },
    state: 'Starting',
    reason: 'StorageLimitExceeded',
    step: 'Run',
    until: 120,
  },
  {
    why: 'preemption',
    given: {
      deployment: fallen,
      pods: [
        over({
          conditions: [
            is('DisruptionTarget', 'True', {
              reason: 'PreemptionByScheduler',
              message: 'default-scheduler: preempting to accommodate a higher priority pod',
            }),
          ],
        }),
      ],
    },
    state: 'Starting',
    reason: 'Preempted',
    step: 'Run',
    until: 300,
  },
  {
    why: 'shutdown of the node',
    given: {
      deployment: fallen,
      pods: [over({ reason: 'Terminated', message: 'Pod was terminated in response to imminent node shutdown.' })],
    },
    state: 'Starting',
    reason: 'NodeShutdown',
    step: 'Run',
    until: 300,
  },
  {
    why: 'shutdown of the node, as its condition says it',
    given: {
      deployment: fallen,
      pods: [over({ conditions: [is('DisruptionTarget', 'True', { reason: 'TerminationByKubelet' })] })],
    },
    state: 'Starting',
    reason: 'NodeShutdown',
    step: 'Run',
    until: 300,
  },
  {
    why: 'rejection: a node that has no room after all',
    given: {
      deployment: starting,
      pods: [
        over({
          reason: 'OutOfcpu',
          message: "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000",
        }),
      ],
    },
    state: 'Starting',
    reason: 'PodRejected',
    step: 'Run',
    until: 120,
    says: /OutOfcpu: Node didn't have enough/,
  },
  {
    why: 'rejection: again and again for two minutes, whichever pod it is',
    given: {
      deployment: starting,
      pods: [over({ reason: 'UnexpectedAdmissionError' }, 'workspace-web-5', 3)],
      before: { waiting: { reason: 'PodRejected', since: ago(120) } },
    },
    state: 'Failed',
    reason: 'PodRejected',
    step: 'Run',
    says: /waited 2 minutes/,
  },
  {
    why: 'a pod that ended for no reason that is known',
    given: { deployment: fallen, pods: [over({ phase: 'Succeeded' })] },
    state: 'Starting',
    reason: 'PodEnded',
    step: 'Run',
    until: 120,
  },
  {
    why: 'stop: a pod that takes its time',
    given: { deployment: stopping, pods: [pod({ late: -5, main: [live()] })] },
    state: 'Stopping',
    step: 'Stop',
  },
  {
    why: 'stop: a pod that is late is waited for',
    given: { deployment: stopped, pods: [pod({ late: 60, main: [live()] })] },
    state: 'Stopping',
    reason: 'PodNotEnding',
    step: 'Stop',
    until: 240,
    says: /its grace period is over/,
  },
  {
    why: 'stop: a pod that does not end for five minutes is Failed',
    given: { deployment: stopped, pods: [pod({ late: 300, main: [live()] })] },
    state: 'Failed',
    reason: 'PodNotEnding',
    step: 'Stop',
    says: /waited 5 minutes/,
  },
  {
    why: 'stop: a pod that somebody holds',
    given: { deployment: stopped, pods: [pod({ late: 60, finalizers: ['example.com/hold'] })] },
    state: 'Stopping',
    reason: 'PodNotEnding',
    step: 'Stop',
    until: 240,
    says: /finalizers hold it: example.com\/hold/,
  },
  {
    why: 'stop: the Deployment gave up before',
    given: { deployment: deployment({ progress: DEADLINE, wanted: 0 }), pods: [pod({ late: 60, main: [live()] })] },
    state: 'Failed',
    reason: 'PodNotEnding',
    step: 'Stop',
  },
  {
    why: 'restart: the old pod is in the way',
    given: { deployment: starting, pods: [pod({ late: 100, main: [live()] })] },
    state: 'Starting',
    reason: 'PodNotEnding',
    step: 'Stop',
    until: 200,
  },
  {
    why: 'restart: the old pod is no matter once there is a new one',
    given: { deployment: starting, pods: [pod({ name: 'old', late: 100 }), next] },
    state: 'Starting',
    step: 'Volume',
  },
]
