import { equal, is, match, ok } from 'uvu/assert'
import { conditionOf, Deployments, WorkspaceClasses, Workspaces } from '../../../src/api/index.ts'
import { hours, minutes, seconds, systemClock } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { expectGone } from '../../support/verbs.ts'
import { everybody, prepareNamespace, words } from './fixture.ts'

describe('workspace: its resources and its deletion', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  /** Milliseconds by which the operator's clock is ahead. */
  let ahead = 0
  const now = () => systemClock.now() + ahead
  const { at, create, set, becomes, expect, deleteAll } = words(cluster, () => namespace)

  it.before(async () => {
    namespace = await cluster.namespace('workspace-resources')
    await prepareNamespace(cluster, namespace, {
      maxResourcesPerWorkspace: { limits: { cpu: 4 }, requests: { cpu: 4 } },
      maxTerminatedHoursBeforeDeletion: 2,
    })
    const { kubeconfig } = cluster
    operator = await startOperator({ kubeconfig, namespace, clock: { ...systemClock, now }, controllers: everybody })
  })
  it.after(async () => {
    await deleteAll()
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
    await cluster.close()
  })

  const INLINE =
    'schemaVersion: 2.2.0\ncomponents: [{ name: tools, container: { image: "example.com/tools:1", cpuRequest: 500m, cpuLimit: 1 } }]'
  const deployed = async (name: string) => {
    const { metadata, spec } = (await kube.get(Deployments, at(`workspace-${name}`))) ?? {}
    return { generation: metadata?.generation, cpu: spec?.template.spec?.containers[0]?.resources?.limits?.cpu }
  }
  const current = (reason: string) => (name: string) =>
    expect(name, ({ status }) => conditionOf(status?.conditions, 'ResourcesCurrent')?.reason === reason)

  it('gives other resources at the next start, and says so until then', async () => {
    await create('web', { devfile: { inline: INLINE } })
    await becomes('web', 'Running')
    const before = await deployed('web')
    await set('web', { resources: [{ container: 'tools', limits: { cpu: 3 } }] })
    const waiting = await current('RestartNeeded')('web')
    match(conditionOf(waiting.status?.conditions, 'ResourcesCurrent')?.message ?? '', 'berth restart web')
    equal(waiting.status?.resources?.running, [{ container: 'tools', requests: { cpu: '500m' }, limits: { cpu: '1' } }])
    equal(await deployed('web'), before)

    await set('web', { desiredState: 'RestartRequested' })
    const restarted = await expect(
      'web',
      ({ spec, status }) => spec.desiredState === 'Running' && status?.actualState === 'Running',
    )
    is((await deployed('web')).cpu, '3')
    equal(restarted.status?.resources?.running?.[0]?.limits, { cpu: '3' })
    await current('Mended')('web')

    await set('web', { resources: [{ container: 'tools', limits: { cpu: 9 } }] })
    await current('ResourcesRefused')('web')
    is((await deployed('web')).cpu, '3')
  })

  it('forgets a terminated workspace when its class says so, and announces it', async () => {
    await create('old', { desiredState: 'Terminated' })
    const { status } = await expect('old', (seen) => seen.status?.willDeleteAt !== undefined)
    is(status?.actualState, 'Terminated')
    const end = Date.parse(status?.willDeleteAt ?? '')
    ok(Math.abs(end - now() - hours(2)) < minutes(1))
    // Nobody wakes it in its last seconds but its own alarm.
    ahead = end - seconds(4) - systemClock.now()
    await kube.patch(Workspaces, at('old'), { metadata: { annotations: { look: 'again' } } })
    await expectGone(kube, Workspaces, at('old'))
    ok(now() >= end, 'not before its time')
  })
})
