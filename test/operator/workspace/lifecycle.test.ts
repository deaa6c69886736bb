import { equal, is, match, ok } from 'uvu/assert'
import {
  CoreEvents,
  conditionOf,
  Deployments,
  NetworkPolicies,
  PersistentVolumeClaims,
  WorkspaceClasses,
  Workspaces,
} from '../../../src/api/index.ts'
import { hours, minutes, seconds, systemClock, timestamp } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { workspaceClass } from '../../support/workspaces.ts'
import { everybody, prepareNamespace, words } from './fixture.ts'

describe('workspace: its time', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  /** Milliseconds by which the operator's clock is ahead. */
  let ahead = 0
  const { at, create, set, becomes, expect, deleteAll } = words(cluster, () => namespace)
  const now = () => systemClock.now() + ahead

  it.beforeEach(async () => {
    ahead = 0
    namespace = await cluster.namespace('workspace-time')
    await prepareNamespace(cluster, namespace, {
      maxActiveHoursBeforeStop: 1,
      maxStoppedHoursBeforeTermination: 1,
      idle: { stopAfterMinutes: 30 },
    })
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      clock: { ...systemClock, now },
      controllers: everybody,
    })
  })
  it.afterEach(async () => {
    await deleteAll()
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
  })
  it.after(() => cluster.close())

  const note = (name: string, annotations: Record<string, string>) =>
    kube.patch(Workspaces, at(name), { metadata: { annotations } })
  const told = (reason: string) =>
    eventually(async () => (await kube.list(CoreEvents, { namespace })).find((event) => event.reason === reason))

  it('is acted on when it is over, first by a stop and then by the end', async () => {
    await create('web')
    const { status } = await becomes('web', 'Running')
    equal([status?.willStopReason, status?.willTerminateReason], ['MaxActiveHours', 'MaxLifeHours'])
    const end = Date.parse(status?.willStopAt ?? '')
    // Its last seconds begin. Only its own alarm wakes it in time: whatever else looks at it does so once an hour.
    ahead = end - seconds(4) - systemClock.now()
    await note('web', { look: 'again' })
    const stopped = await expect('web', ({ spec }) => spec.desiredState === 'Stopped')
    ok(now() >= end)
    is(stopped.spec.desiredState, 'Stopped')
    const after = await becomes('web', 'Stopped')
    is(after.status?.stoppedBecause, 'MaxActiveHours: it has been up for the 1 h that its class allows')
    match((await told('StoppedByMaxActiveHours')).message ?? '', /^it becomes Stopped: it has been up for the 1 h/)
    ahead += hours(1) + seconds(1)
    await note('web', { look: 'once more' })
    await becomes('web', 'Terminated')
    await told('TerminatedByMaxStoppedHours')
  })

  it('ends early when nobody uses it, and only where somebody watches', async () => {
    await create('web')
    const { status } = await becomes('web', 'Running')
    is(status?.willStopReason, 'MaxActiveHours')
    const watched = 'berth.dev/activity-watched-at'
    const use = { 'berth.dev/last-activity': timestamp(now()), 'berth.dev/last-activity-by': 'Connection' }
    await note('web', { ...use, [watched]: timestamp(now()) })
    const used = await expect('web', (seen) => seen.status?.willStopReason === 'Idle')
    ok(used.status?.lastActivityAt)
    is(used.status?.lastActivityBy, 'Connection')
    ahead = minutes(31)
    // What was seen half an hour ago says nothing of now.
    await note('web', { look: 'again' })
    await expect('web', (seen) => seen.status?.willStopReason === 'MaxActiveHours')
    is((await kube.get(Workspaces, at('web')))?.spec.desiredState, 'Running')
    await note('web', { [watched]: timestamp(now()) })
    const stopped = await becomes('web', 'Stopped')
    match(stopped.status?.stoppedBecause ?? '', /^Idle: nobody has used it for 30 min/)
  })

  it('goes on without its class, and with the settings that it has when that changes', async () => {
    await create('web')
    await becomes('web', 'Running')
    await kube.patch(WorkspaceClasses, { name: namespace }, { spec: { maxActiveHoursBeforeStop: 7 } })
    const changed = await expect(
      'web',
      ({ status }) => conditionOf(status?.conditions, 'ClassCurrent')?.reason === 'ClassChanged',
    )
    is(changed.status?.class?.settings?.maxActiveHoursBeforeStop, 1)
    await kube.delete(WorkspaceClasses, { name: namespace })
    await expect('web', ({ status }) => conditionOf(status?.conditions, 'ClassCurrent')?.reason === 'ClassGone')
    await set('web', { desiredState: 'Stopped' })
    await becomes('web', 'Stopped')
    await set('web', { desiredState: 'Running', upgradedAt: timestamp(now()) })
    const running = await becomes('web', 'Running')
    is(running.status?.class?.settings?.maxActiveHoursBeforeStop, 1)
    // The class that comes is taken over, because that was asked for.
    await kube.create(WorkspaceClasses, workspaceClass(namespace, { maxActiveHoursBeforeStop: 9 }))
    const upgraded = await expect('web', ({ status }) => status?.class?.settings?.maxActiveHoursBeforeStop === 9)
    is(conditionOf(upgraded.status?.conditions, 'ClassCurrent')?.status, 'True')
  })

  it('is compared as a whole when its class changes, and what was repaired is told', async () => {
    await create('web')
    await becomes('web', 'Running')
    await kube.delete(NetworkPolicies, at('workspace-web'))
    await kube.patch(WorkspaceClasses, { name: namespace }, { spec: { maxLifeHours: 100 } })
    await eventually(() => kube.get(NetworkPolicies, at('workspace-web')))
    match((await told('Repaired')).message ?? '', /by somebody, and repaired: NetworkPolicy workspace-web$/)
    is((await kube.get(PersistentVolumeClaims, at('workspace-web')))?.metadata.deletionTimestamp, undefined)
  })

  it('does not begin before what belongs to no workspace was named', async () => {
    const labels = { 'berth.dev/workspace-uid': 'nobody' }
    const spec = {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'tools', image: 'example.com/tools:1' }] } },
    }
    const metadata = { name: 'workspace-left', namespace, labels }
    await kube.create(Deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec })
    await create('web')
    await becomes('web', 'Running')
    const { message = '', involvedObject } = await told('OrphansFound')
    match(message, 'workspace-left (berth.dev/workspace-uid=nobody). If nobody else uses them: kubectl delete')
    is(involvedObject.name, 'here')
    ok(await kube.get(Deployments, at('workspace-left')))
    await kube.delete(Deployments, at('workspace-left'))
  })

  it('is what was wanted last when two people want different things at once', async () => {
    await create('web')
    await becomes('web', 'Running')
    const wishes = ['Stopped', 'Running', 'RestartRequested', 'Stopped', 'Running', 'Stopped', 'RestartRequested'] as const
    await Promise.all(wishes.map((desiredState) => set('web', { desiredState })))
    await set('web', { desiredState: 'Stopped' })
    await becomes('web', 'Stopped')
    await Promise.all([set('web', { desiredState: 'RestartRequested' }), set('web', { desiredState: 'RestartRequested' })])
    // The second may come when the first has been done already.
    await expect('web', ({ spec, status }) => spec.desiredState === 'Running' && status?.actualState === 'Running')
  })
})
