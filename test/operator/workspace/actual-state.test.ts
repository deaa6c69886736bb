import * as assert from 'uvu/assert'
import type { CoreCondition, Deployment } from '../../../src/api/index.ts'
import {
  type ActualState,
  actualStateOf,
  type Evidence,
  stateOfDeployment,
} from '../../../src/operator/workspace/actual-state.ts'
import type { Trouble } from '../../../src/operator/workspace/trouble.ts'
import { describe } from '../../support/suite.ts'

interface Given {
  progress?: string | undefined
  available?: string | undefined
  wanted?: number | undefined
  up?: number
  down?: number
}

const condition = (type: string, reason: string | undefined): CoreCondition[] =>
  reason === undefined ? [] : [{ type, status: 'True', ...(reason && { reason }) }]

const deployment = ({ progress, available, wanted, up, down }: Given): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'workspace-web' },
  spec: { ...(wanted !== undefined && { replicas: wanted }), selector: {}, template: {} },
  status: {
    observedGeneration: 1,
    ...(up !== undefined && { availableReplicas: up }),
    ...(down !== undefined && { unavailableReplicas: down }),
    conditions: [...condition('Available', available), ...condition('Progressing', progress)],
  },
})

const NEW = 'NewReplicaSetAvailable'
const UP = 'MinimumReplicasAvailable'
const DOWN = 'MinimumReplicasUnavailable'
const without = (field: 'spec' | 'status'): Deployment => {
  const { [field]: _, ...rest } = deployment({ progress: NEW, available: UP, wanted: 1, up: 1 })
  return rest
}

const RULES: { why: string; given: Deployment | undefined; state: ActualState }[] = [
  { why: 'rule 2: nothing is known without a Deployment', given: undefined, state: 'Unknown' },
  { why: 'rule 2: a Deployment without spec says nothing', given: without('spec'), state: 'Unknown' },
  { why: 'rule 2: a Deployment without status says nothing', given: without('status'), state: 'Unknown' },
  { why: 'rule 2: no conditions, no knowledge', given: deployment({ wanted: 1 }), state: 'Unknown' },
  { why: 'rule 2: Available alone is not enough', given: deployment({ available: UP, wanted: 1, up: 1 }), state: 'Unknown' },
  {
    why: 'rule 2: a Progressing condition without reason is none',
    given: deployment({ progress: '', available: UP, wanted: 1, up: 1 }),
    state: 'Unknown',
  },
  {
    why: 'rule 2: without replicas nobody knows what was wanted',
    given: deployment({ progress: NEW, available: UP, up: 1 }),
    state: 'Unknown',
  },
  {
    why: 'rule 3: the deadline is the limit of a start',
    given: deployment({ progress: 'ProgressDeadlineExceeded', available: DOWN, wanted: 1, up: 0 }),
    state: 'Failed',
  },
  {
    why: 'rule 3 comes before Available',
    given: deployment({ progress: 'ProgressDeadlineExceeded', available: UP, wanted: 1, up: 1 }),
    state: 'Failed',
  },
  {
    why: 'rule 3 needs no Available condition',
    given: deployment({ progress: 'ProgressDeadlineExceeded', wanted: 0 }),
    state: 'Failed',
  },
  {
    why: 'rule 4: a new ReplicaSet with one replica starts',
    given: deployment({ progress: 'NewReplicaSetCreated', wanted: 1 }),
    state: 'Starting',
  },
  {
    why: 'rule 4: a found ReplicaSet with one replica starts',
    given: deployment({ progress: 'FoundNewReplicaSet', wanted: 1 }),
    state: 'Starting',
  },
  {
    why: 'rule 4: an updated ReplicaSet with one replica starts',
    given: deployment({ progress: 'ReplicaSetUpdated', wanted: 1 }),
    state: 'Starting',
  },
  {
    why: 'rule 4: a new ReplicaSet with none stops',
    given: deployment({ progress: 'NewReplicaSetCreated', wanted: 0 }),
    state: 'Stopping',
  },
  {
    why: 'rule 4: a found ReplicaSet with none stops',
    given: deployment({ progress: 'FoundNewReplicaSet', wanted: 0 }),
    state: 'Stopping',
  },
  {
    why: 'rule 4: an updated ReplicaSet with none stops',
    given: deployment({ progress: 'ReplicaSetUpdated', wanted: 0 }),
    state: 'Stopping',
  },
  { why: 'rule 4 knows 0 and 1 only', given: deployment({ progress: 'ReplicaSetUpdated', wanted: 2 }), state: 'Unknown' },
  {
    why: 'rule 4 comes before what is available',
    given: deployment({ progress: 'ReplicaSetUpdated', available: UP, wanted: 1, up: 1 }),
    state: 'Starting',
  },
  { why: 'rule 5: no Available condition', given: deployment({ progress: NEW, wanted: 1, up: 1 }), state: 'Unknown' },
  {
    why: 'rule 5: an Available condition without reason is none',
    given: deployment({ progress: NEW, available: '', wanted: 1, up: 1 }),
    state: 'Unknown',
  },
  {
    why: 'rule 6: none wanted, none there',
    given: deployment({ progress: NEW, available: UP, wanted: 0, up: 0 }),
    state: 'Stopped',
  },
  { why: 'rule 6: a missing count is none', given: deployment({ progress: NEW, available: UP, wanted: 0 }), state: 'Stopped' },
  {
    why: 'rule 6: one wanted, one there',
    given: deployment({ progress: NEW, available: UP, wanted: 1, up: 1 }),
    state: 'Running',
  },
  {
    why: 'rule 6: one there and one that is not is no rest',
    given: deployment({ progress: NEW, available: UP, wanted: 1, up: 1, down: 1 }),
    state: 'Unknown',
  },
  {
    why: 'rule 6: none wanted, one still there',
    given: deployment({ progress: NEW, available: UP, wanted: 0, up: 1 }),
    state: 'Stopping',
  },
  {
    why: 'rule 6: one wanted, none there yet',
    given: deployment({ progress: NEW, available: UP, wanted: 1, up: 0 }),
    state: 'Starting',
  },
  {
    why: 'rule 6: one wanted, and too few',
    given: deployment({ progress: NEW, available: DOWN, wanted: 1, up: 0, down: 1 }),
    state: 'Starting',
  },
  {
    why: 'rule 6: none wanted and too few contradict',
    given: deployment({ progress: NEW, available: DOWN, wanted: 0, up: 0 }),
    state: 'Unknown',
  },
  {
    why: 'rule 6: too few is never Running',
    given: deployment({ progress: NEW, available: DOWN, wanted: 1, up: 1 }),
    state: 'Unknown',
  },
  { why: 'rule 7: more than wanted', given: deployment({ progress: NEW, available: UP, wanted: 1, up: 2 }), state: 'Unknown' },
  {
    why: 'rule 7: a reason of Available that nobody knows',
    given: deployment({ progress: NEW, available: 'Odd', wanted: 1, up: 0 }),
    state: 'Unknown',
  },
  {
    why: 'rule 7: a reason of Progressing that nobody knows',
    given: deployment({ progress: 'DeploymentPaused', available: UP, wanted: 1, up: 1 }),
    state: 'Unknown',
  },
]

describe('actual state: rules', (it) => {
  for (const { why, given, state } of RULES) it(why, () => assert.is(stateOfDeployment(given), state, why))
})

const trouble: Trouble = { reason: 'CrashLoopBackOff', message: '', cause: '', remedy: '', fatal: true }
const running = deployment({ progress: NEW, available: UP, wanted: 1, up: 1 })
const crashing = deployment({ progress: NEW, available: DOWN, wanted: 1, up: 0, down: 1 })
const stopping = deployment({ progress: NEW, available: UP, wanted: 0, up: 1 })
const { status: _, ...unseen } = crashing

const MORE: { why: string; given: Evidence; state: ActualState }[] = [
  {
    why: 'rule 1: the end comes before everything',
    given: { termination: 'Terminating', applyFailed: true, deployment: running },
    state: 'Terminating',
  },
  { why: 'rule 1: the end is final', given: { termination: 'Terminated', deployment: running }, state: 'Terminated' },
  {
    why: 'what could not be applied is Error, however well the old objects fare',
    given: { applyFailed: true, deployment: running },
    state: 'Error',
  },
  {
    why: 'a crash loop after a good start is Failed, not Starting for ever',
    given: { deployment: crashing, trouble },
    state: 'Failed',
  },
  {
    why: 'what may pass by itself is Starting',
    given: { deployment: crashing, trouble: { ...trouble, fatal: false } },
    state: 'Starting',
  },
  { why: 'a workspace that runs is not Failed by an old pod', given: { deployment: running, trouble }, state: 'Running' },
  { why: 'a crashing pod that is being stopped is Stopping', given: { deployment: stopping, trouble }, state: 'Stopping' },
  { why: 'a Deployment that its controller has not seen is new, not unknown', given: { deployment: unseen }, state: 'Starting' },
]

describe('actual state: more than the Deployment', (it) => {
  for (const { why, given, state } of MORE) it(why, () => assert.is(actualStateOf(given), state, why))
})
