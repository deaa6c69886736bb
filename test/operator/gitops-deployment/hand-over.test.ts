import * as assert from 'uvu/assert'
import { ConfigMaps, conditionOf, GitOpsDeployments, isTrue } from '../../../src/api/index.ts'
import { OWNER_LABEL } from '../../../src/engines/gitops/index.ts'
import { pause, systemClock } from '../../../src/std/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { at, openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

describe('an object that goes from one deployment to another', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage
  let uids: { one: string; two: string }

  it.beforeEach(async () => {
    stage = await openStage(cluster)
    const one = await stage.deploy(at('one'), 'one')
    const two = await stage.deploy(at('two'), 'two')
    uids = { one: one.metadata.uid ?? '', two: two.metadata.uid ?? '' }
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const before = { 'one/a.yaml': configMap('a'), 'one/b.yaml': configMap('b', { x: '1' }), 'two/c.yaml': configMap('c') }
  const after = { 'one/a.yaml': configMap('a'), 'two/b.yaml': configMap('b', { x: '1' }), 'two/c.yaml': configMap('c') }
  const bothSynced = async (commit: string) => {
    await stage.synced(commit, 'one')
    await stage.synced(commit, 'two')
  }
  const owner = async (name: string) => (await stage.configMap(name))?.metadata.labels?.[OWNER_LABEL]

  for (const [title, late] of [
    ['the one that gives it hears of the commit first', 'two'],
    ['the one that takes it hears of the commit first', 'one'],
  ] as const) {
    it(`keeps its uid when ${title}`, async () => {
      await bothSynced(await stage.git.push(before))
      const uid = (await stage.configMap('b'))?.metadata.uid
      // Longer than the first needs to do all that it can do alone, and shorter than it waits for the other.
      const commit = await stage.git.push(after, { path: late, until: pause(systemClock, 1500) })
      await bothSynced(commit)
      assert.equal([(await stage.configMap('b'))?.metadata.uid, await owner('b')], [uid, uids.two])
      assert.equal((await stage.status('one')).inventory?.count, 1)
      assert.equal((await stage.status('two')).inventory?.count, 2)
    })
  }

  it('is deleted by the one that gives it when nobody takes it', async () => {
    await bothSynced(await stage.git.push(before))
    const { 'two/b.yaml': _, ...nowhere } = after
    await bothSynced(await stage.git.push(nowhere))
    assert.is(await stage.configMap('b'), undefined)
  })

  it('is not waited for longer than a while when the other cannot render the commit', async () => {
    await bothSynced(await stage.git.push(before))
    const { 'two/b.yaml': _, ...nowhere } = after
    await stage.git.push({ ...nowhere, 'two/c.yaml': 'a: [' })
    await stage.complains('RenderFailed', 'two')
    await eventually(async () => (await stage.configMap('b')) === undefined)
  })

  it('stays with the first when both want it: that one is well and says so, and the other is refused', async () => {
    await bothSynced(await stage.git.push(before))
    const version = (await stage.configMap('b'))?.metadata.resourceVersion
    await stage.git.push({ ...before, 'two/b.yaml': configMap('b', { x: '2' }) })
    assert.match((await stage.complains('KeptByOther', 'two')).message, /ConfigMap .*\/b .*is kept by GitOpsDeployment .*\/one/)
    await eventually(async () => {
      const { conditions } = await stage.status('one')
      const contested = conditionOf(conditions, 'Contested')
      assert.equal([contested?.status, contested?.reason, isTrue(conditions, 'Ready')], ['True', 'ConflictingSync', true])
      assert.match(
        contested?.message ?? '',
        new RegExp(`^ConfigMap ${stage.namespace}/b is wanted by GitOpsDeployment .*/two as`),
      )
      return true
    })
    assert.match((await stage.events('ConflictingSync')).join(), `ConfigMap ${stage.namespace}/b`)
    const now = await stage.configMap('b')
    assert.equal([now?.metadata.resourceVersion, now?.data], [version, { x: '1' }])
    // One gives in: both are well again.
    const commit = await stage.git.push({ ...after, 'two/b.yaml': configMap('b', { x: '2' }) })
    await bothSynced(commit)
    assert.equal((await stage.configMap('b'))?.data, { x: '2' })
  })

  for (const [title, spec] of [
    ['suspended', { suspend: true }],
    ['manual', { type: 'manual' }],
  ] as const)
    it(`is deleted when the other that wants it is ${title} by now, and takes nothing`, async () => {
      await bothSynced(await stage.git.push(before))
      const both = { ...before, 'two/b.yaml': configMap('b', { x: '1' }) }
      await stage.git.push(both)
      await eventually(async () => isTrue((await stage.status('one')).conditions, 'Contested'))
      await kube.patch(GitOpsDeployments, { name: 'two', namespace: stage.namespace }, { spec })
      await eventually(async () => !isTrue((await stage.status('one')).conditions, 'Contested'))
      const { 'one/b.yaml': _, ...without } = both
      await stage.synced(await stage.git.push(without), 'one')
      assert.is(await stage.configMap('b'), undefined)
    })

  it('is deleted when the other that wants it may not write it, and the first is not bothered by him', async () => {
    const { source } = at('weak')
    await stage.deploy({ ...(source && { source }), serviceAccountName: 'weak' }, 'weak')
    await bothSynced(await stage.git.push(before))
    const both = { ...before, 'weak/b.yaml': configMap('b') }
    const commit = await stage.git.push(both)
    await eventually(async () => /forbidden/i.test(JSON.stringify((await stage.status('weak')).conditions)))
    assert.is(isTrue((await stage.synced(commit, 'one')).conditions, 'Contested'), false)
    const { 'one/b.yaml': _, ...without } = both
    await stage.synced(await stage.git.push(without), 'one')
    assert.is(await stage.configMap('b'), undefined)
  })

  it('is taken from a deployment that is gone only when its manifest asks for it', async () => {
    await bothSynced(await stage.git.push(before))
    await kube.delete(GitOpsDeployments, { name: 'one', namespace: stage.namespace })
    await eventually(async () => !(await kube.get(GitOpsDeployments, { name: 'one', namespace: stage.namespace })))
    await kube.patch(ConfigMaps, { name: 'b', namespace: stage.namespace }, { metadata: { labels: { [OWNER_LABEL]: 'gone' } } })
    await stage.git.push(after)
    assert.match((await stage.complains('KeptByOther', 'two')).message, /gitops\.berth\.dev\/adopt: "true"/)
    const b = configMap('b', { x: '1' })
    const adopted = { ...b, metadata: { ...b.metadata, annotations: { 'gitops.berth.dev/adopt': 'true' } } }
    await stage.synced(await stage.git.push({ ...after, 'two/b.yaml': adopted }), 'two')
    assert.is(await owner('b'), uids.two)
  })
})
