import * as assert from 'uvu/assert'
import { ConfigMaps, Deployments, GitOpsDeployments } from '../../../src/api/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const web = (replicas: number, image = 'example.com/web:1', stuck = false) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { ...(stuck && { nodeSelector: { nowhere: 'at-all' } }), containers: [{ name: 'web', image }] },
    },
  },
})

const on = (object: ReturnType<typeof configMap>, dependsOn: string) => ({
  ...object,
  metadata: { ...object.metadata, annotations: { 'gitops.berth.dev/depends-on': dependsOn } },
})

const frozen = (x: string) => ({ ...configMap('frozen', { x }), immutable: true })

describe('a deployment that applies objects in its own way', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage
  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  it('applies what depends on others when those are healthy, and says meanwhile what it waits for', async () => {
    await stage.deploy()
    const files = (stuck: boolean) => ({
      'deploy/web.yaml': web(1, 'example.com/web:1', stuck),
      'deploy/after.yaml': on(configMap('after'), 'apps/Deployment//web'),
    })
    await stage.git.push(files(true))
    await eventually(async () => {
      const { resources = [] } = await stage.status()
      return /depends on Deployment\.apps .*\/web, which is Progressing/.test(
        resources.find(({ name }) => name === 'after')?.message ?? '',
      )
    })
    assert.is(await stage.configMap('after'), undefined)
    await stage.synced(await stage.git.push(files(false)))
    assert.ok(await stage.configMap('after'))
  })

  it('names a cycle and applies the others', async () => {
    await stage.deploy()
    await stage.git.push({
      'deploy/a.yaml': on(configMap('a'), '/ConfigMap//b'),
      'deploy/b.yaml': on(configMap('b'), '/ConfigMap//a'),
      'deploy/c.yaml': configMap('c'),
    })
    const { message } = await stage.complains('SyncFailed')
    assert.match(message, /is part of a cycle of dependencies: ConfigMap .*\/a -> ConfigMap .*\/b -> ConfigMap .*\/a/)
    assert.ok(await stage.configMap('c'))
  })

  it('makes objects anew when spec.force says so, and says what to do when it does not', async () => {
    await stage.deploy({}, 'shop')
    await stage.synced(await stage.git.push({ 'deploy/f.yaml': frozen('1') }))
    const uid = (await stage.configMap('frozen'))?.metadata.uid
    const commit = await stage.git.push({ 'deploy/f.yaml': frozen('2') })
    const { message } = await stage.complains('SyncFailed')
    assert.match(message, /data cannot be changed once the object exists \(immutable\).*gitops\.berth\.dev\/force/)
    assert.is((await stage.configMap('frozen'))?.metadata.uid, uid)
    await kube.patch(GitOpsDeployments, { name: 'shop', namespace: stage.namespace }, { spec: { force: true } })
    await stage.synced(commit)
    assert.equal((await stage.configMap('frozen'))?.data, { x: '2' })
  })

  it('leaves fields alone that others may change, and sets them back where nobody may', async () => {
    await stage.deploy({ ignore: [{ paths: ['/spec/replicas'], target: { kind: 'Deployment' } }] })
    await stage.synced(await stage.git.push({ 'deploy/web.yaml': web(1), 'deploy/c.yaml': configMap('c', { x: '1' }) }))
    const ref = { name: 'web', namespace: stage.namespace }
    await kube.patch(Deployments, ref, { spec: { replicas: 3 } }, { manager: 'autoscaler' })
    await kube.patch(
      ConfigMaps,
      { name: 'c', namespace: stage.namespace },
      { data: { x: 'by hand' } },
      { manager: 'kubectl-edit' },
    )
    await eventually(async () => (await stage.configMap('c'))?.data?.x === '1')
    await stage.synced(
      await stage.git.push({ 'deploy/web.yaml': web(1, 'example.com/web:2'), 'deploy/c.yaml': configMap('c', { x: '1' }) }),
    )
    const spec = (await kube.get(Deployments, ref))?.spec
    assert.equal([spec?.replicas, spec?.template.spec?.containers[0]?.image], [3, 'example.com/web:2'])
  })

  it('says which label selector of an ignore rule is none, and goes on when it is one', async () => {
    const rule = (labelSelector: string) => ({ paths: ['/data/x'], target: { labelSelector } })
    await stage.deploy({ ignore: [rule('app=web'), rule('app=web,,tier')] })
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    const { message } = await stage.complains('LabelSelectorInvalid')
    assert.match(message, 'spec.ignore[1].target.labelSelector: "" is no term of a label selector')
    await kube.patch(GitOpsDeployments, { name: 'shop', namespace: stage.namespace }, { spec: { ignore: [rule('app=web')] } })
    await stage.synced(commit)
  })

  it('shows that an object is left alone on purpose, and goes on when the mark is taken off', async () => {
    await stage.deploy()
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) }))
    const mark = (value: string | null) =>
      kube.patch(
        ConfigMaps,
        { name: 'a', namespace: stage.namespace },
        { metadata: { annotations: { 'gitops.berth.dev/apply': value } } },
      )
    await mark('ignore')
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }), 'deploy/b.yaml': configMap('b') })
    await eventually(() => stage.configMap('b'))
    assert.equal((await stage.configMap('a'))?.data, { x: '1' })
    await mark(null)
    await eventually(async () => (await stage.configMap('a'))?.data?.x === '2')
    await stage.synced(commit)
  })

  it('is content with objects that are to be made only once, whatever became of them', async () => {
    const once = (x: string) => ({
      ...configMap('a', { x }),
      metadata: { name: 'a', annotations: { 'gitops.berth.dev/apply': 'if-not-present' } },
    })
    await stage.deploy()
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': once('1') }))
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': once('2'), 'deploy/b.yaml': configMap('b') }))
    assert.equal((await stage.configMap('a'))?.data, { x: '1' })
    const byHand = { data: { x: 'by hand' } }
    const { metadata } = await kube.patch(ConfigMaps, { name: 'a', namespace: stage.namespace }, byHand)
    // The same watch tells of both, in this order: who set back the second has seen the first.
    await kube.delete(ConfigMaps, { name: 'b', namespace: stage.namespace })
    await eventually(() => stage.configMap('b'))
    assert.is((await stage.configMap('a'))?.metadata.resourceVersion, metadata.resourceVersion)
  })

  it('refuses a commit in which a file became a link, and deletes nothing', async () => {
    const { git } = stage
    const both = { 'deploy/a.yaml': configMap('a', { x: '1' }), 'deploy/b.yaml': configMap('b') }
    await stage.deploy()
    await stage.synced(await git.push(both))
    await git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }), 'deploy/b.yaml': { link: 'symbolic link' } })
    const { message } = await stage.complains('SourceRefused')
    assert.match(message, /deploy\/b\.yaml: is a symbolic link; below the path of a sync/)
    assert.ok(await stage.configMap('b'))
    assert.equal((await stage.configMap('a'))?.data, { x: '1' })
  })
})
