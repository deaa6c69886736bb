import { homeless, pod, type Row, starting } from './objects.ts'

const NODES = '0/3 nodes are available: '
const CPU = `${NODES}3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.`

/** What the scheduler says. */
export const SCHEDULING: Row[] = [
  {
    why: 'scheduling: a moment without a word is no trouble',
    given: { deployment: starting, pods: [pod({ node: undefined, age: 5, conditions: [] })] },
    state: 'Starting',
    step: 'Scheduling',
  },
  {
    why: 'scheduling: a scheduler that says nothing',
    given: { deployment: starting, pods: [pod({ node: undefined, age: 60, conditions: [] })] },
    state: 'Starting',
    reason: 'SchedulerSilent',
    step: 'Scheduling',
    until: 240,
  },
  {
    why: 'scheduling: no room is waited for while nodes scale',
    given: { deployment: starting, pods: [homeless(CPU)] },
    state: 'Starting',
    reason: 'Unschedulable',
    step: 'Scheduling',
    until: 240,
    says: /^Pod workspace-web-1 finds no node .*3 Insufficient cpu/,
  },
  {
    why: 'scheduling: no room for five minutes is Failed',
    given: { deployment: starting, pods: [homeless(CPU, 300)] },
    state: 'Failed',
    reason: 'Unschedulable',
    step: 'Scheduling',
    says: /waited 5 minutes/,
  },
  {
    why: 'scheduling: one second less is still waited for',
    given: { deployment: starting, pods: [homeless(CPU, 299)] },
    state: 'Starting',
    reason: 'Unschedulable',
    step: 'Scheduling',
    until: 1,
  },
  {
    why: 'scheduling: nodes that are full of pods',
    given: { deployment: starting, pods: [homeless(`${NODES}3 Too many pods.`)] },
    state: 'Starting',
    reason: 'Unschedulable',
    step: 'Scheduling',
    until: 240,
  },
  {
    why: 'scheduling: taints',
    given: { deployment: starting, pods: [homeless(`${NODES}3 node(s) had untolerated taint {dedicated: gpu}.`)] },
    state: 'Starting',
    reason: 'NoNodeMatches',
    step: 'Scheduling',
    until: 240,
  },
  {
    why: 'scheduling: labels',
    given: { deployment: starting, pods: [homeless(`${NODES}3 node(s) didn't match Pod's node affinity/selector.`)] },
    state: 'Starting',
    reason: 'NoNodeMatches',
    step: 'Scheduling',
    until: 240,
  },
  {
    why: 'scheduling: where some are full and some do not fit, room helps',
    given: {
      deployment: starting,
      pods: [homeless(`${NODES}1 Insufficient memory, 2 node(s) had untolerated taint {dedicated: gpu}.`)],
    },
    state: 'Starting',
    reason: 'Unschedulable',
    step: 'Scheduling',
    until: 240,
  },
  {
    why: 'scheduling: a cluster without nodes',
    given: { deployment: starting, pods: [homeless('no nodes available to schedule pods')] },
    state: 'Starting',
    reason: 'NoNodes',
    step: 'Scheduling',
    until: 240,
  },
  {
    why: 'scheduling: a gate',
    given: {
      deployment: starting,
      pods: [homeless('Scheduling is blocked due to non-empty scheduling gates', 60, 'SchedulingGated')],
    },
    state: 'Starting',
    reason: 'SchedulingGated',
    step: 'Scheduling',
    until: 240,
  },
  {
    why: 'scheduling: words that nobody knows',
    given: { deployment: starting, pods: [homeless('a plugin of our own says no')] },
    state: 'Starting',
    reason: 'Unschedulable',
    step: 'Scheduling',
    until: 240,
  },
]
