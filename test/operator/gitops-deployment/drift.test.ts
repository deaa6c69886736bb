import * as assert from 'uvu/assert'
import { ConfigMaps, Deployments } from '../../../src/api/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      // As people write it, and as the server does not: it answers `1`.
      spec: { containers: [{ name: 'web', image: 'example.com/web:1', resources: { requests: { cpu: '1000m' } } }] },
    },
  },
}

describe('an object that somebody changes in the cluster', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage

  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const settled = async () => {
    await stage.deploy()
    const files = { 'deploy/a.yaml': configMap('a', { x: '1' }), 'deploy/b.yaml': configMap('b'), 'deploy/web.yaml': web }
    const commit = await stage.git.push(files)
    await stage.synced(commit)
    return commit
  }
  const ref = (name: string) => ({ name, namespace: stage.namespace })
  const within = { within: 15_000 }

  it('is set back at once: edited, scaled, relabelled or deleted', async () => {
    const commit = await settled()
    const uid = (await stage.configMap('b'))?.metadata.uid
    await kube.patch(ConfigMaps, ref('a'), { data: { x: 'edited' } }, { manager: 'kubectl-edit' })
    await eventually(async () => (await stage.configMap('a'))?.data?.x === '1', within)
    await kube.patch(Deployments, ref('web'), { spec: { replicas: 3 }, metadata: { labels: { app: 'other' } } })
    await eventually(async () => {
      const now = await kube.get(Deployments, ref('web'))
      assert.equal([now?.spec?.replicas, now?.metadata.labels?.app], [1, 'web'])
      return true
    }, within)
    await kube.delete(ConfigMaps, ref('b'))
    const again = await eventually(() => stage.configMap('b'), within)
    assert.is.not(again.metadata.uid, uid)
    await stage.synced(commit)
    await eventually(
      async () =>
        assert.match((await stage.events('DriftRepaired')).join(), /ConfigMap .*\/a: \/data\/x \(changed by kubectl-edit\)/) ??
        true,
    )
  })

  it('comes back when it loses our mark', async () => {
    await settled()
    await kube.patch(ConfigMaps, ref('a'), { metadata: { labels: { 'gitops.berth.dev/sync': null } } })
    await eventually(async () => (await stage.configMap('a'))?.metadata.labels?.['gitops.berth.dev/sync'], within)
  })

  it('keeps the fields and annotations that others add', async () => {
    await settled()
    await kube.patch(ConfigMaps, ref('a'), { metadata: { annotations: { note: 'mine' } }, data: { foreign: 'stays' } })
    await kube.patch(ConfigMaps, ref('a'), { data: { x: 'edited' } })
    await eventually(async () => (await stage.configMap('a'))?.data?.x === '1', within)
    const now = await stage.configMap('a')
    assert.equal([now?.data, now?.metadata.annotations?.note], [{ x: '1', foreign: 'stays' }, 'mine'])
  })

  it('costs one request to set back, one Event and one status; what others write to it costs nothing', async () => {
    await settled()
    await stage.operator.quiet()
    const before = { ...stage.operator.requests }
    await kube.patch(ConfigMaps, ref('a'), { metadata: { annotations: { note: 'mine' } } })
    await kube.patch(ConfigMaps, ref('b'), { data: { foreign: 'stays' } })
    await kube.patch(ConfigMaps, ref('a'), { data: { x: 'edited' } })
    await eventually(async () => (await stage.configMap('a'))?.data?.x === '1', within)
    await eventually(async () => (await stage.events('DriftRepaired')).length === 1)
    await stage.operator.quiet()
    const { patch = 0, post = 0, get = 0 } = stage.operator.requests
    assert.equal([post - (before.post ?? 0), get - (before.get ?? 0)], [1, 0])
    // The status says when something was written, to the second.
    assert.ok(patch - (before.patch ?? 0) <= 2, `${patch - (before.patch ?? 0)} patches`)
  })

  it('is only told of in Detect mode, with its fields', async () => {
    await stage.deploy({ drift: 'Detect' })
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }), 'deploy/b.yaml': configMap('b') })
    await stage.synced(commit)
    await kube.patch(ConfigMaps, ref('a'), { data: { x: 'edited' } })
    assert.match((await stage.complains('Drifted')).message, /ConfigMap .*\/a differs in \/data\/x/)
    const now = await stage.status()
    assert.equal(now.sync, { status: 'OutOfSync', revision: commit })
    assert.equal(
      now.resources?.map(({ name, status, drift }) => [name, status, drift]),
      [
        ['a', 'OutOfSync', ['/data/x']],
        ['b', 'Synced', undefined],
      ],
    )
    assert.equal((await stage.configMap('a'))?.data, { x: 'edited' })
    await kube.patch(ConfigMaps, ref('a'), { data: { x: '1' } })
    await stage.synced(commit)
  })

  it('is applied in Detect mode when a commit changes it', async () => {
    await stage.deploy({ drift: 'Detect' })
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) }))
    await kube.patch(ConfigMaps, ref('a'), { data: { x: 'edited' } })
    await stage.complains('Drifted')
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }) }))
    assert.is((await stage.configMap('a'))?.data?.x, '2')
  })

  it('is found after a restart, though nobody watched meanwhile', async () => {
    const commit = await settled()
    await stage.stop()
    await kube.patch(ConfigMaps, ref('a'), { data: { x: 'edited' } })
    await kube.delete(ConfigMaps, ref('b'))
    await stage.restart()
    await eventually(async () => (await stage.configMap('a'))?.data?.x === '1' && (await stage.configMap('b')) !== undefined)
    await stage.synced(commit)
  })
})
