import * as assert from 'uvu/assert'
import {
  CoreEvents,
  conditionOf,
  PersistentVolumeClaims,
  type Pod,
  Pods,
  ResourceQuotas,
  ServiceAccounts,
  type Workspace,
  WorkspaceClasses,
  type WorkspaceSpec,
  Workspaces,
} from '../../../src/api/index.ts'
import { minutes, seconds, systemClock, timestamp } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectGone, expectObject } from '../../support/verbs.ts'
import { everybody, prepareNamespace } from './fixture.ts'

const devfile = (image: string, more = '') => ({
  inline: `schemaVersion: 2.2.0\ncomponents: [{ name: tools, container: { image: "${image}"${more} } }]`,
})
const GOOD = devfile('example.com/tools:1')

describe('workspace: failing', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  /** Milliseconds by which the operator's clock is ahead. */
  let ahead = 0
  const ref = () => ({ name: 'web', namespace })

  it.beforeEach(async () => {
    ahead = 0
    namespace = await cluster.namespace('workspace-failing')
    await prepareNamespace(cluster, namespace)
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      clock: { ...systemClock, now: () => systemClock.now() + ahead },
      controllers: everybody,
    })
  })
  it.afterEach(async () => {
    await kube.delete(Workspaces, ref())
    await expectGone(kube, Workspaces, ref())
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
  })
  it.after(() => cluster.close())

  const create = (spec: Partial<WorkspaceSpec>): Promise<Workspace> =>
    kube.create(Workspaces, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'web', namespace },
      spec: { workspaceClassName: namespace, target: { claimName: 'shared' }, ...spec },
    })
  const set = (spec: Partial<WorkspaceSpec>) => kube.patch(Workspaces, ref(), { spec })
  const expectWorkspace = (is: (workspace: Workspace) => boolean | undefined) =>
    expectObject(kube, Workspaces, ref(), (workspace) => is(workspace) === true)
  const becomes = (state: string) => expectWorkspace(({ status }) => status?.actualState === state)
  const firstPod = (): Promise<Pod> => eventually(async () => (await kube.list(Pods, { namespace }))[0])
  const ready = ({ status }: Workspace) => conditionOf(status?.conditions, 'Ready')
  const stage = ({ status }: Workspace, type: string) => conditionOf(status?.conditions, type)?.status
  /** As the kubelet would: it said so just now. */
  const warn = (about: { metadata: Pod['metadata'] }, kind: string, reason: string, message: string) => {
    const { name, uid = '' } = about.metadata
    const now = timestamp(systemClock.now())
    return kube.create(CoreEvents, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${name}.${reason.toLowerCase()}`, namespace },
      involvedObject: { kind, name, namespace, uid },
      type: 'Warning',
      reason,
      message,
      firstTimestamp: now,
      lastTimestamp: now,
    })
  }

  it('looks now and then whether everything is there, though it is not watched', async () => {
    await create({ devfile: devfile('fate.invalid/image-pull-failure') })
    await becomes('Failed')
    const account = { name: 'workspace-web', namespace }
    await kube.delete(ServiceAccounts, account)
    ahead += minutes(5) + seconds(1)
    await kube.patch(Workspaces, ref(), { metadata: { annotations: { look: 'again' } } })
    await eventually(() => kube.get(ServiceAccounts, account))
  })

  it('says that the quota is exceeded, in one line and in an Event, and starts again when there is room', async () => {
    const quota = { name: 'small', namespace }
    await kube.create(ResourceQuotas, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: quota,
      spec: { hard: { pods: '0' } },
    })
    await expectObject(kube, ResourceQuotas, quota, (now) => now.status?.hard?.pods !== undefined)
    await create({ devfile: GOOD })
    const failed = await becomes('Failed')
    const { failure, step } = failed.status ?? {}
    assert.is(failure?.reason, 'QuotaExceeded')
    assert.is(failure?.step, 'Admission')
    assert.ok(failure?.since)
    assert.is(step?.name, 'Admission')
    assert.match(
      ready(failed)?.message ?? '',
      /^Deployment workspace-web is over the quota.*step Admission.*exceeded quota.*raised/,
    )
    assert.is(stage(failed, 'Applied'), 'True')
    assert.is(stage(failed, 'PodAdmitted'), 'False')
    await operator.quiet()
    const told = (await kube.list(CoreEvents, { namespace })).filter(
      ({ reason, involvedObject }) => reason === 'QuotaExceeded' && involvedObject.name === 'web',
    )
    assert.is(told.length, 1)
    await kube.patch(ResourceQuotas, quota, { spec: { hard: { pods: '9' } } })
    await expectObject(kube, ResourceQuotas, quota, (now) => String(now.status?.hard?.pods) === '9')
    await set({ desiredState: 'RestartRequested' })
    const { status } = await expectWorkspace(
      ({ spec, status: now }) => spec.desiredState === 'Running' && now?.actualState === 'Running',
    )
    assert.is(status?.failure, undefined)
    assert.is(status?.step, undefined)
  })

  it('waits for a mount that is late, says until when, and fails when that is over', async () => {
    await create({ devfile: devfile('fate.invalid/stuck-creating') })
    const pod = await firstPod()
    await warn(pod, 'Pod', 'FailedMount', 'MountVolume.SetUp failed for volume "workspace-data" : timed out')
    const waiting = await expectWorkspace((now) => now.status?.waiting?.reason === 'VolumeNotMounted')
    const { status } = waiting
    assert.is(status?.actualState, 'Starting')
    assert.is(status?.step?.name, 'Volume')
    const { since = '', until = '' } = status?.waiting ?? {}
    assert.is(Date.parse(until) - Date.parse(since), minutes(3))
    assert.match(status?.waitingFor ?? '', /^Pod workspace-web-\S+ cannot have its volume mounted: MountVolume/)
    assert.is(stage(waiting, 'PodScheduled'), 'True')
    assert.is(stage(waiting, 'PodPrepared'), 'False')
    ahead = minutes(3)
    await set({ ports: [{ name: 'web', port: 8080 }] })
    const failed = await becomes('Failed')
    assert.is(failed.status?.failure?.tried, 'waited 3 minutes')
    assert.is(failed.status?.waiting, undefined)
    assert.match(ready(failed)?.message ?? '', /step Volume; waited 3 minutes/)
  })

  it('says what the provider of its volume says', async () => {
    await kube.patch(WorkspaceClasses, { name: namespace }, { spec: { storage: { storageClassName: 'not-there' } } })
    const volumeClass = () => operator.caches.of(WorkspaceClasses).get({ name: namespace })?.spec.storage?.storageClassName
    await eventually(() => volumeClass() === 'not-there')
    await create({ devfile: GOOD })
    const unbound = await expectWorkspace(({ status }) => status?.waiting?.reason === 'VolumeNotBound')
    assert.is(unbound.status?.actualState, 'Starting')
    const volume = await eventually(() => kube.get(PersistentVolumeClaims, { name: 'workspace-web', namespace }))
    const message = 'storageclass.storage.k8s.io "not-there" not found'
    await warn(volume, 'PersistentVolumeClaim', 'ProvisioningFailed', message)
    const failed = await becomes('Failed')
    assert.is(failed.status?.failure?.reason, 'StorageClassMissing')
    assert.match(failed.status?.failure?.cause ?? '', /^PersistentVolumeClaim workspace-web names a storage class/)
    assert.is(failed.status?.failure?.message, message)
  })

  it('waits while no node takes it, and says in which step', async () => {
    await create({ devfile: devfile('example.com/tools:1', ', cpuRequest: 2k') })
    const { status } = await expectWorkspace(({ status: now }) => now?.waiting?.reason === 'Unschedulable')
    assert.is(status?.actualState, 'Starting')
    assert.is(status?.step?.name, 'Scheduling')
    assert.is(Date.parse(status?.waiting?.until ?? '') - Date.parse(status?.waiting?.since ?? ''), minutes(5))
    ahead = minutes(5)
    await set({ ports: [{ name: 'web', port: 8080 }] })
    const failed = await becomes('Failed')
    assert.is(failed.status?.failure?.reason, 'Unschedulable')
    await set({ devfile: GOOD })
    await becomes('Running')
  })

  it('names the container that crashes, how it ended and how often it was started', async () => {
    await create({ devfile: devfile('fate.invalid/crash-loop') })
    const { status } = await becomes('Failed')
    assert.is(status?.failure?.reason, 'CrashLoopBackOff')
    assert.is(status?.failure?.step, 'Run of container tools')
    assert.equal(status?.step && { name: status.step.name, container: status.step.container }, {
      name: 'Run',
      container: 'tools',
    })
    assert.match(status?.failure?.message ?? '', /exit code 1/)
    assert.is(status?.failure?.tried, 'started 6 times')
  })

  it('is not Stopped while its pod still ends', async () => {
    await create({ devfile: GOOD })
    await becomes('Running')
    const pod = await firstPod()
    const at = { name: pod.metadata.name, namespace }
    await kube.patch(Pods, at, { metadata: { finalizers: ['example.com/hold'] } })
    await set({ desiredState: 'Stopped' })
    await expectObject(kube, Pods, at, ({ metadata }) => metadata.deletionTimestamp !== undefined)
    const { status } = await becomes('Stopping')
    assert.is(status?.step?.name, 'Stop')
    await kube.patch(Pods, at, { metadata: { finalizers: [] } })
    await becomes('Stopped')
  })
})
