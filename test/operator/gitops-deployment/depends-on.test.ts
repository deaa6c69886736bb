import * as assert from 'uvu/assert'
import { ConfigMaps, GitOpsDeployments } from '../../../src/api/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { at, openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

/** It is on its way until somebody says that it is ready, in a field that no manifest has. */
const PHASES = { group: '', kind: 'ConfigMap', healthy: "object.data.phase == 'ready'" }

describe('a GitOpsDeployment that depends on another', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage

  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const ref = (name: string) => ({ name, namespace: stage.namespace })
  const on = (...names: string[]) => ({ dependsOn: names.map((name) => ({ name })) })

  it('G11: is applied at once when that one is Ready', async () => {
    await stage.deploy({ ...at('base'), healthRules: [PHASES] }, 'base')
    await stage.deploy(on('base'))
    const commit = await stage.git.push({ 'base/b.yaml': configMap('b'), 'deploy/a.yaml': configMap('a') })
    await eventually(async () => {
      const { message } = await stage.complains('DependencyNotReady')
      assert.match(message, `waits for GitOpsDeployment ${stage.namespace}/base, which is not Ready (Progressing)`)
      return true
    })
    assert.is(await stage.configMap('a'), undefined)
    await kube.patch(ConfigMaps, ref('b'), { data: { phase: 'ready' } }, { manager: 'somebody' })
    await stage.synced(commit, 'base')
    // Nothing but the other's status wakes it. On an idle machine that takes less than a second.
    await eventually(() => stage.configMap('a'), { within: 5000 })
    await stage.synced(commit)
  })

  it('G11: goes through commits after it, never ahead', async () => {
    await stage.deploy(at('base'), 'base')
    await stage.deploy(on('base'))
    const files = (x: string) => ({ 'base/b.yaml': configMap('b', { x }), 'deploy/a.yaml': configMap('a', { x }) })
    await stage.synced(await stage.git.push(files('1')))
    await kube.patch(GitOpsDeployments, ref('base'), { spec: { suspend: true } })
    await stage.complains('Suspended', 'base')
    await stage.git.push(files('2'))
    await stage.complains('DependencyNotReady')
    assert.is((await stage.configMap('a'))?.data?.x, '1')
    await kube.patch(GitOpsDeployments, ref('base'), { spec: { suspend: false } })
    await eventually(async () => (await stage.configMap('a'))?.data?.x === '2')
    assert.is((await stage.configMap('b'))?.data?.x, '2')
  })

  it('G11: names the circle, and goes on as soon as it is broken', async () => {
    await stage.deploy({ ...at('base'), ...on('shop') }, 'base')
    await stage.deploy(on('base'))
    const commit = await stage.git.push({ 'base/b.yaml': configMap('b'), 'deploy/a.yaml': configMap('a') })
    const circle = (first: string, second: string) =>
      [first, second, first].map((name) => `${stage.namespace}/${name}`).join(' -> ')
    assert.match((await stage.complains('DependencyCycle')).message, circle('shop', 'base'))
    assert.match((await stage.complains('DependencyCycle', 'base')).message, circle('base', 'shop'))
    assert.equal([await stage.configMap('a'), await stage.configMap('b')], [undefined, undefined])
    await kube.patch(GitOpsDeployments, ref('base'), { spec: { dependsOn: null } })
    await stage.synced(commit, 'base')
    await stage.synced(commit)
  })

  it('waits for one that is not there yet, and is woken by it', async () => {
    await stage.deploy(on('base'))
    const commit = await stage.git.push({ 'base/b.yaml': configMap('b'), 'deploy/a.yaml': configMap('a') })
    assert.match((await stage.complains('DependencyNotReady')).message, /base, which does not exist/)
    await stage.deploy(at('base'), 'base')
    await stage.synced(commit)
  })
})
