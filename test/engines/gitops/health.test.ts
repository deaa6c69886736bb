import * as assert from 'uvu/assert'
import type { AnyObject } from '../../../src/api/index.ts'
import { type HealthStatus, healthOf, worse } from '../../../src/engines/gitops/index.ts'
import { describe } from '../../support/suite.ts'

const NOW = Date.UTC(2030, 0, 1, 12)
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString()
const is = (type: string, status = 'True', reason = '', more: object = {}) => ({ type, status, reason, message: '', ...more })

interface Row {
  why: string
  of: string
  spec?: object
  status?: object
  metadata?: object
  expect: HealthStatus
}

const API: Record<string, string> = {
  Deployment: 'apps/v1',
  StatefulSet: 'apps/v1',
  DaemonSet: 'apps/v1',
  ReplicaSet: 'apps/v1',
  Job: 'batch/v1',
  CustomResourceDefinition: 'apiextensions.k8s.io/v1',
  Widget: 'example.com/v1beta1',
}

const full = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2 }
const available = [is('Available'), is('Progressing', 'True', 'NewReplicaSetAvailable')]
const everywhere = {
  observedGeneration: 1,
  desiredNumberScheduled: 2,
  currentNumberScheduled: 2,
  updatedNumberScheduled: 2,
  numberAvailable: 2,
  numberReady: 2,
}
const settledSet = {
  replicas: 2,
  readyReplicas: 2,
  currentReplicas: 2,
  updatedReplicas: 2,
  currentRevision: 'a',
  updateRevision: 'a',
}
const crashing = [{ name: 'web', state: { waiting: { reason: 'CrashLoopBackOff' } } }]
const unschedulable = (seconds: number) => [is('PodScheduled', 'False', 'Unschedulable', { lastTransitionTime: ago(seconds) })]

const ROWS: Row[] = [
  {
    why: 'whatever is being deleted is on its way out',
    of: 'ConfigMap',
    metadata: { deletionTimestamp: ago(1) },
    expect: 'Progressing',
  },
  {
    why: 'an older generation was looked at',
    of: 'Widget',
    metadata: { generation: 2 },
    status: { observedGeneration: 1 },
    expect: 'Progressing',
  },
  { why: 'a custom resource without a status is as good as it gets', of: 'Widget', expect: 'Healthy' },
  { why: 'Ready says no', of: 'Widget', status: { conditions: [is('Ready', 'False')] }, expect: 'Progressing' },
  { why: 'Ready does not know', of: 'Widget', status: { conditions: [is('Ready', 'Unknown')] }, expect: 'Progressing' },
  { why: 'Ready says yes', of: 'Widget', status: { conditions: [is('Ready')] }, expect: 'Healthy' },
  { why: 'Stalled is given up', of: 'Widget', status: { conditions: [is('Stalled'), is('Ready', 'False')] }, expect: 'Degraded' },
  {
    why: 'Reconciling is under way',
    of: 'Widget',
    status: { conditions: [is('Reconciling'), is('Ready')] },
    expect: 'Progressing',
  },
  { why: 'a ConfigMap is there or not', of: 'ConfigMap', expect: 'Healthy' },
  { why: 'a CronJob is there or not', of: 'CronJob', expect: 'Healthy' },
  { why: 'a ClusterIP Service is ready at once', of: 'Service', spec: { type: 'ClusterIP' }, expect: 'Healthy' },
  { why: 'a LoadBalancer waits for its address', of: 'Service', spec: { type: 'LoadBalancer' }, expect: 'Progressing' },
  {
    why: 'a LoadBalancer with its address',
    of: 'Service',
    spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1' },
    expect: 'Healthy',
  },
  { why: 'a bound claim', of: 'PersistentVolumeClaim', status: { phase: 'Bound' }, expect: 'Healthy' },
  { why: 'a pending claim', of: 'PersistentVolumeClaim', status: { phase: 'Pending' }, expect: 'Progressing' },
  { why: 'a claim nobody looked at', of: 'PersistentVolumeClaim', expect: 'Progressing' },
  { why: 'a pod nobody looked at', of: 'Pod', expect: 'Progressing' },
  { why: 'a pod that is done', of: 'Pod', status: { phase: 'Succeeded' }, expect: 'Healthy' },
  { why: 'a pod that ended, kstatus calls it current', of: 'Pod', status: { phase: 'Failed' }, expect: 'Healthy' },
  { why: 'a ready pod', of: 'Pod', status: { phase: 'Running', conditions: [is('Ready')] }, expect: 'Healthy' },
  {
    why: 'a pod that is not ready',
    of: 'Pod',
    status: { phase: 'Running', conditions: [is('Ready', 'False')] },
    expect: 'Progressing',
  },
  { why: 'a crash loop', of: 'Pod', status: { phase: 'Running', containerStatuses: crashing }, expect: 'Degraded' },
  {
    why: 'unschedulable for a moment',
    of: 'Pod',
    status: { phase: 'Pending', conditions: unschedulable(5) },
    expect: 'Progressing',
  },
  { why: 'unschedulable for long', of: 'Pod', status: { phase: 'Pending', conditions: unschedulable(20) }, expect: 'Degraded' },
  { why: 'a pending pod', of: 'Pod', status: { phase: 'Pending' }, expect: 'Progressing' },
  { why: 'a Deployment nobody looked at', of: 'Deployment', expect: 'Progressing' },
  {
    why: 'the deadline is over',
    of: 'Deployment',
    status: { ...full, conditions: [is('Progressing', 'False', 'ProgressDeadlineExceeded')] },
    expect: 'Degraded',
  },
  { why: 'too few replicas', of: 'Deployment', status: { ...full, replicas: 1, conditions: available }, expect: 'Progressing' },
  {
    why: 'too few updated',
    of: 'Deployment',
    status: { ...full, updatedReplicas: 1, conditions: available },
    expect: 'Progressing',
  },
  { why: 'old pods still run', of: 'Deployment', status: { ...full, replicas: 3, conditions: available }, expect: 'Progressing' },
  {
    why: 'not all available',
    of: 'Deployment',
    status: { ...full, availableReplicas: 1, conditions: available },
    expect: 'Progressing',
  },
  { why: 'not all ready', of: 'Deployment', status: { ...full, readyReplicas: 1, conditions: available }, expect: 'Progressing' },
  {
    why: 'the new replica set is not up',
    of: 'Deployment',
    status: { ...full, conditions: [is('Available'), is('Progressing', 'True', 'ReplicaSetUpdated')] },
    expect: 'Progressing',
  },
  {
    why: 'not Available',
    of: 'Deployment',
    status: { ...full, conditions: [is('Available', 'False'), available[1]] },
    expect: 'Progressing',
  },
  { why: 'all is well', of: 'Deployment', status: { ...full, conditions: available }, expect: 'Healthy' },
  {
    why: 'one replica is meant when none is written',
    of: 'Deployment',
    spec: {},
    status: {
      observedGeneration: 1,
      replicas: 1,
      updatedReplicas: 1,
      availableReplicas: 1,
      readyReplicas: 1,
      conditions: available,
    },
    expect: 'Healthy',
  },
  {
    why: 'updates are done by hand',
    of: 'StatefulSet',
    spec: { replicas: 2, updateStrategy: { type: 'OnDelete' } },
    expect: 'Healthy',
  },
  { why: 'too few ready', of: 'StatefulSet', status: { ...settledSet, readyReplicas: 1 }, expect: 'Progressing' },
  {
    why: 'the revision is not everywhere',
    of: 'StatefulSet',
    status: { ...settledSet, updateRevision: 'b' },
    expect: 'Progressing',
  },
  {
    why: 'a partition that is not reached',
    of: 'StatefulSet',
    spec: { replicas: 2, updateStrategy: { rollingUpdate: { partition: 1 } } },
    status: { ...settledSet, updatedReplicas: 0 },
    expect: 'Progressing',
  },
  {
    why: 'a partition that is reached',
    of: 'StatefulSet',
    spec: { replicas: 2, updateStrategy: { rollingUpdate: { partition: 1 } } },
    status: { ...settledSet, updatedReplicas: 1, updateRevision: 'b' },
    expect: 'Healthy',
  },
  { why: 'a settled StatefulSet', of: 'StatefulSet', status: settledSet, expect: 'Healthy' },
  { why: 'a DaemonSet nobody looked at', of: 'DaemonSet', expect: 'Progressing' },
  {
    why: 'a DaemonSet that is not everywhere',
    of: 'DaemonSet',
    status: { ...everywhere, numberReady: 1 },
    expect: 'Progressing',
  },
  { why: 'a DaemonSet that is everywhere', of: 'DaemonSet', status: everywhere, expect: 'Healthy' },
  {
    why: 'a DaemonSet that fits no node',
    of: 'DaemonSet',
    status: { observedGeneration: 1, desiredNumberScheduled: 0 },
    expect: 'Healthy',
  },
  { why: 'a ReplicaSet that fails', of: 'ReplicaSet', status: { conditions: [is('ReplicaFailure')] }, expect: 'Progressing' },
  {
    why: 'a ReplicaSet in full',
    of: 'ReplicaSet',
    status: { replicas: 2, fullyLabeledReplicas: 2, availableReplicas: 2, readyReplicas: 2 },
    expect: 'Healthy',
  },
  { why: 'a Job that is done', of: 'Job', status: { conditions: [is('Complete')] }, expect: 'Healthy' },
  { why: 'a Job that failed', of: 'Job', status: { conditions: [is('Failed')] }, expect: 'Degraded' },
  { why: 'a Job that did not start', of: 'Job', expect: 'Progressing' },
  { why: 'a Job that runs', of: 'Job', status: { startTime: ago(1) }, expect: 'Progressing' },
  { why: 'a suspended Job', of: 'Job', spec: { suspend: true }, expect: 'Healthy' },
  {
    why: 'a CRD whose names are taken',
    of: 'CustomResourceDefinition',
    status: { conditions: [is('NamesAccepted', 'False')] },
    expect: 'Degraded',
  },
  {
    why: 'a CRD being installed',
    of: 'CustomResourceDefinition',
    status: { conditions: [is('Established', 'False', 'Installing')] },
    expect: 'Progressing',
  },
  {
    why: 'a CRD that cannot be',
    of: 'CustomResourceDefinition',
    status: { conditions: [is('Established', 'False', 'Other')] },
    expect: 'Degraded',
  },
  { why: 'a CRD that is served', of: 'CustomResourceDefinition', status: { conditions: [is('Established')] }, expect: 'Healthy' },
  { why: 'a CRD nobody looked at', of: 'CustomResourceDefinition', expect: 'Progressing' },
  { why: 'a namespace that is open', of: 'Namespace', status: { phase: 'Active' }, expect: 'Healthy' },
  { why: 'a namespace nobody looked at', of: 'Namespace', expect: 'Progressing' },
]

const objectOf = ({ of, spec = { replicas: 2 }, status, metadata }: Row): AnyObject => ({
  apiVersion: API[of] ?? 'v1',
  kind: of,
  metadata: { name: 'x', generation: 1, ...metadata },
  spec,
  ...(status && { status }),
})

describe('health', (it) => {
  for (const row of ROWS) {
    it(`calls ${row.expect} a ${row.of}: ${row.why}`, () => {
      assert.is(healthOf(objectOf(row), NOW).status, row.expect, row.why)
    })
  }

  it('judges a kind of somebody else by its conditions, whatever its name', () => {
    const own = { apiVersion: 'serving.example.com/v1', kind: 'Service', metadata: { name: 'x' }, spec: { type: 'LoadBalancer' } }
    assert.is(healthOf(own, NOW).status, 'Healthy')
  })

  it('misses what is not there', () => {
    assert.is(healthOf(undefined, NOW).status, 'Missing')
  })

  it('takes the worst of many', () => {
    assert.is(worse('Healthy', 'Progressing'), 'Progressing')
    assert.is(worse('Degraded', 'Missing'), 'Degraded')
  })
})
