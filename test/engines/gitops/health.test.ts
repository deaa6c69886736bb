import * as assert from 'uvu/assert'
import type { AnyObject } from '../../../src/api/index.ts'
import { endsByGoing, type HealthStatus, healthOf, healthRules, worse } from '../../../src/engines/health/index.ts'
import { refusalOf } from '../../support/refusal.ts'
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
  Ingress: 'networking.k8s.io/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  APIService: 'apiregistration.k8s.io/v1',
  GatewayClass: 'gateway.networking.k8s.io/v1',
  Gateway: 'gateway.networking.k8s.io/v1',
  HTTPRoute: 'gateway.networking.k8s.io/v1',
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
  { why: 'a volume that is free', of: 'PersistentVolume', status: { phase: 'Available' }, expect: 'Healthy' },
  { why: 'a volume that is being made', of: 'PersistentVolume', status: { phase: 'Pending' }, expect: 'Progressing' },
  { why: 'a volume that nobody looked at', of: 'PersistentVolume', expect: 'Progressing' },
  { why: 'a volume whose reclamation failed', of: 'PersistentVolume', status: { phase: 'Failed' }, expect: 'Degraded' },
  { why: 'an Ingress without a controller', of: 'Ingress', expect: 'Healthy' },
  {
    why: 'an Ingress whose port has an error',
    of: 'Ingress',
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.1', ports: [{ port: 443, error: 'NoCertificate' }] }] } },
    expect: 'Degraded',
  },
  { why: 'an autoscaler nobody looked at', of: 'HorizontalPodAutoscaler', expect: 'Progressing' },
  {
    why: 'an autoscaler that scales',
    of: 'HorizontalPodAutoscaler',
    status: { currentReplicas: 1, conditions: [is('AbleToScale'), is('ScalingActive')] },
    expect: 'Healthy',
  },
  {
    why: 'an autoscaler without metrics yet',
    of: 'HorizontalPodAutoscaler',
    status: { conditions: [is('AbleToScale'), is('ScalingActive', 'False', 'FailedGetResourceMetric')] },
    expect: 'Progressing',
  },
  {
    why: 'an autoscaler whose target is at zero',
    of: 'HorizontalPodAutoscaler',
    status: { conditions: [is('AbleToScale'), is('ScalingActive', 'False', 'ScalingDisabled')] },
    expect: 'Suspended',
  },
  {
    why: 'an autoscaler that cannot scale its target',
    of: 'HorizontalPodAutoscaler',
    status: { conditions: [is('AbleToScale', 'False', 'FailedGetScale')] },
    expect: 'Degraded',
  },
  { why: 'an API nobody looked at', of: 'APIService', expect: 'Progressing' },
  { why: 'an API that answers', of: 'APIService', status: { conditions: [is('Available')] }, expect: 'Healthy' },
  { why: 'an API that does not', of: 'APIService', status: { conditions: [is('Available', 'False')] }, expect: 'Progressing' },
  { why: 'an accepted class', of: 'GatewayClass', status: { conditions: [is('Accepted')] }, expect: 'Healthy' },
  {
    why: 'a class without controller',
    of: 'GatewayClass',
    status: { conditions: [is('Accepted', 'Unknown')] },
    expect: 'Progressing',
  },
  { why: 'a gateway in service', of: 'Gateway', status: { conditions: [is('Accepted'), is('Programmed')] }, expect: 'Healthy' },
  {
    why: 'a gateway on its way',
    of: 'Gateway',
    status: { conditions: [is('Accepted'), is('Programmed', 'False')] },
    expect: 'Progressing',
  },
  { why: 'a gateway that is refused', of: 'Gateway', status: { conditions: [is('Accepted', 'False')] }, expect: 'Degraded' },
  { why: 'a route of no gateway', of: 'HTTPRoute', status: { parents: [] }, expect: 'Progressing' },
  {
    why: 'a route that all gateways took',
    of: 'HTTPRoute',
    status: { parents: [{ conditions: [is('Accepted'), is('ResolvedRefs')] }] },
    expect: 'Healthy',
  },
  {
    why: 'a route whose backend is missing',
    of: 'HTTPRoute',
    status: { parents: [{ conditions: [is('Accepted'), is('ResolvedRefs', 'False', 'BackendNotFound')] }] },
    expect: 'Degraded',
  },
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

  it('G18: follows the rule that the user gave for a kind', async () => {
    const withRules = await healthRules([
      { group: 'example.com', kind: 'Widget', healthy: "object.status.phase == 'Up'", failed: "status.phase == 'Broken'" },
    ])
    const widget = (status?: object) => objectOf({ of: 'Widget', why: '', expect: 'Healthy', ...(status && { status }) })
    assert.is(healthOf(widget(), NOW, withRules()).status, 'Progressing')
    assert.is(healthOf(widget({ phase: 'Starting' }), NOW, withRules()).status, 'Progressing')
    assert.is(healthOf(widget({ phase: 'Up' }), NOW, withRules()).status, 'Healthy')
    assert.is(healthOf(widget({ phase: 'Broken' }), NOW, withRules()).status, 'Degraded')
    assert.is(healthOf(objectOf({ of: 'ConfigMap', why: '', expect: 'Healthy' }), NOW, withRules()).status, 'Healthy')
  })

  it('names the field and the place of a rule that is no CEL', async () => {
    const refused = await refusalOf(healthRules([{ group: '', kind: 'ConfigMap', healthy: 'object.data.ready = "yes"' }]))
    assert.is(refused, 'spec.healthRules[0].healthy: 1:19: found = where end of input is expected')
  })

  it('refuses rules that are too long together', async () => {
    const healthy = `object.data.ready == '${'y'.repeat(2000)}'`
    const refused = await refusalOf(healthRules(Array.from({ length: 9 }, () => ({ group: '', kind: 'ConfigMap', healthy }))))
    assert.match(refused, /^spec\.healthRules: the expressions have \d+ characters, more than 16384$/)
  })

  it('says which rule goes through too much of an object, and what to do', async () => {
    const everyPair = 'object.list.all(a, object.list.all(b, a != b || a == b))'
    const withRules = await healthRules([{ group: 'example.com', kind: 'Widget', healthy: 'true', failed: everyPair }])
    const widget = { ...objectOf({ of: 'Widget', why: '', expect: 'Progressing' }), list: Array.from({ length: 1000 }, () => 1) }
    assert.equal(healthOf(widget, NOW, withRules()), {
      status: 'Progressing',
      message:
        'spec.healthRules[0].failed: the budget of 20000 steps for one object is used up. ' +
        'Let the expression go through fewer elements or shorter texts',
    })
  })

  it('says in short what an object says at length', () => {
    const conditions = [is('Stalled', 'True', '', { message: 'm'.repeat(1_000_000) })]
    const { message = '' } = healthOf(objectOf({ of: 'Widget', why: '', expect: 'Degraded', status: { conditions } }), NOW)
    assert.is(message, `${'m'.repeat(1024)}…`)
  })

  it('takes the absence of a Job that removes itself for its success', () => {
    assert.is(endsByGoing(objectOf({ of: 'Job', why: '', expect: 'Healthy', spec: { ttlSecondsAfterFinished: 0 } })), true)
    assert.is(endsByGoing(objectOf({ of: 'Job', why: '', expect: 'Healthy', spec: {} })), false)
  })

  it('misses what is not there', () => {
    assert.is(healthOf(undefined, NOW).status, 'Missing')
  })

  it('takes the worst of many', () => {
    assert.is(worse('Healthy', 'Progressing'), 'Progressing')
    assert.is(worse('Degraded', 'Missing'), 'Degraded')
  })
})
