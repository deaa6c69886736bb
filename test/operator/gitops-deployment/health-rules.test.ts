import * as assert from 'uvu/assert'
import { ConfigMaps, GitOpsDeployments } from '../../../src/api/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'

const PHASES = {
  group: '',
  kind: 'ConfigMap',
  healthy: "object.data.phase == 'ready'",
  failed: "has(object.data.phase) && object.data.phase == 'broken'",
}

describe('a GitOpsDeployment with spec.healthRules', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage

  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  /** As a controller would tell how it does, in a field that no manifest has. */
  const tell = (phase: string) =>
    kube.patch(ConfigMaps, { name: 'a', namespace: stage.namespace }, { data: { phase } }, { manager: 'somebody' })

  it('does as they say, and follows what the object tells', async () => {
    await stage.deploy({ healthRules: [PHASES] })
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) })
    await stage.complains('Progressing')
    await tell('ready')
    await stage.synced(commit)
    await tell('broken')
    assert.match((await stage.complains('Degraded')).message, /ConfigMap .*\/a/)
    const [resource] = (await stage.status()).resources ?? []
    assert.is(resource?.health?.status, 'Degraded')
    await tell('ready')
    await stage.synced(commit)
  })

  it('judges anew when they are changed', async () => {
    await stage.deploy()
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a', { phase: 'broken' }) })
    await stage.synced(commit)
    const shop = { name: 'shop', namespace: stage.namespace }
    await kube.patch(GitOpsDeployments, shop, { spec: { healthRules: [PHASES] } })
    await stage.complains('Degraded')
    await kube.patch(GitOpsDeployments, shop, { spec: { healthRules: null } })
    await stage.synced(commit)
  })

  it('says which of them makes no sense', async () => {
    await stage.deploy({ healthRules: [PHASES, { ...PHASES, kind: 'Secret', healthy: 'object.data[' }] })
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    assert.match((await stage.complains('HealthRuleInvalid')).message, 'spec.healthRules[1].healthy')
  })
})
