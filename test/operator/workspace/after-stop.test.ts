import { equal, is, match, ok } from 'uvu/assert'
import {
  CoreEvents,
  Jobs,
  PersistentVolumeClaims,
  Pods,
  ResourceQuotas,
  WorkspaceClasses,
  Workspaces,
} from '../../../src/api/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectGone } from '../../support/verbs.ts'
import { everybody, prepareNamespace, words } from './fixture.ts'

const devfile = (image: string, limit = 60) => ({
  devfile: {
    inline: `schemaVersion: 2.2.0
components:
  - { name: tools, container: { image: "example.com/tools:1" } }
  - { name: pack, container: { image: "${image}" } }
commands: [{ id: a, attributes: { berth.dev/timeout-seconds: ${limit} }, apply: { component: pack } }]
events: { postStop: [a] }`,
  },
})

describe('workspace: after its stop', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  const { at, create, set, becomes, expect } = words(cluster, () => namespace)
  const open = () => startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers: everybody })
  const jobs = () => kube.list(Jobs, { namespace })
  const running = async (image: string, limit?: number) => {
    await create('web', devfile(image, limit))
    await becomes('web', 'Running')
  }

  it.beforeEach(async () => {
    namespace = await cluster.namespace('workspace-after')
    await prepareNamespace(cluster, namespace)
    operator = await open()
  })
  it.afterEach(async () => {
    await kube.delete(Workspaces, at('web'))
    await expectGone(kube, Workspaces, at('web'))
    equal(await jobs(), [])
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
  })
  it.after(() => cluster.close())

  it('runs what postStop applies, once for each stop, and keeps the Job until the next start', async () => {
    await running('example.com/pack:1')
    is((await jobs()).length, 0)
    await set('web', { desiredState: 'Stopped' })
    const { status } = await becomes('web', 'Stopped')
    is(status?.postStop?.result, 'Succeeded')
    const [first, ...others] = await jobs()
    equal(others, [])
    is(first?.metadata.name, status?.postStop?.job)
    is(first?.spec?.template.spec?.volumes?.[0]?.persistentVolumeClaim?.claimName, 'workspace-web')
    await operator.stop()
    operator = await open()
    await set('web', { ports: [{ name: 'app', port: 8080 }] })
    await expect('web', ({ status: now, metadata }) => now?.observedGeneration === metadata.generation)
    equal(
      (await jobs()).map(({ metadata }) => metadata.uid),
      [first?.metadata.uid],
    )
    await set('web', { desiredState: 'Running' })
    await expect('web', ({ status: now }) => now?.actualState === 'Running' && now.postStop?.job === undefined)
    await eventually(async () => (await jobs()).length === 0)
    await set('web', { desiredState: 'RestartRequested' })
    await expect('web', (now) => now.status?.postStop?.of !== status?.postStop?.of && now.spec.desiredState === 'Running')
    await becomes('web', 'Running')
  })

  it('stops though the commands take too long, and says so', async () => {
    await running('fate.invalid/image-pull-failure', 1)
    await set('web', { desiredState: 'Stopped' })
    const { status } = await becomes('web', 'Stopped')
    is(status?.postStop?.result, 'Failed')
    match(
      status?.postStop?.message ?? '',
      /they took longer than their time\. Its logs: kubectl logs job\/workspace-web-poststop-/,
    )
    const told = await eventually(async () =>
      (await kube.list(CoreEvents, { namespace })).find(({ reason }) => reason === 'PostStopFailed'),
    )
    is(told.type, 'Warning')
  })

  it('stops though the target refuses the Job', async () => {
    const metadata = { name: 'no-jobs', namespace }
    await running('example.com/pack:1')
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard: { 'count/jobs.batch': '0' } } }
    await kube.create(ResourceQuotas, quota)
    await eventually(async () => JSON.stringify(await kube.get(ResourceQuotas, metadata)).includes('"used"'))
    await set('web', { desiredState: 'Stopped' })
    const { status } = await becomes('web', 'Stopped')
    is(status?.postStop?.result, 'Failed')
    match(status?.postStop?.message ?? '', /could not be made: .*exceeded quota/)
  })

  it('ends a workspace that runs in the same order, and waits no longer than the commands may take', async () => {
    // Long enough to be looked at on a busy machine.
    await running('fate.invalid/image-pull-failure', 10)
    await kube.delete(Workspaces, at('web'))
    const seen = await eventually(async () => (await jobs())[0])
    const pods = await kube.list(Pods, { namespace })
    ok(pods.every((pod) => pod.metadata.labels?.['berth.dev/workspace-part'] === 'poststop'))
    ok(await kube.get(PersistentVolumeClaims, { name: 'workspace-web', namespace }))
    ok(seen.metadata.name.startsWith('workspace-web-poststop-'))
    await expect('web', ({ status }) => status?.actualState === 'Terminating' && status.postStop?.result === 'Running')
  })
})
