import * as assert from 'uvu/assert'
import { ConfigMaps, conditionOf } from '../../../src/api/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

describe('a fight', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage

  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  it('over a field is told with the other manager and the field, and given up for a while', async () => {
    await stage.deploy()
    await stage.synced(
      await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: 'ours' }), 'deploy/b.yaml': configMap('b', { x: 'ours' }) }),
    )
    const ref = { name: 'a', namespace: stage.namespace }
    const fight = async () => conditionOf((await stage.status()).conditions, 'Fight')
    /** Told of a fight first and looked at then: who is told and finds it set back still sets it back. */
    const outcome = async () => {
      const isFight = (await fight())?.status === 'True'
      if ((await stage.configMap('a'))?.data?.x === 'ours') return 'set back'
      return isFight && 'given up'
    }
    let repairs = 0
    for (; repairs < 20; repairs++) {
      await kube.patch(ConfigMaps, ref, { data: { x: `theirs ${repairs}` } }, { manager: 'other-operator' })
      if ((await eventually(outcome)) === 'given up') break
    }
    assert.is(repairs, 6)
    const condition = await fight()
    assert.match(condition?.message ?? '', /ConfigMap .*\/a: other-operator changes \/data\/x again and again/)
    assert.match((await stage.complains('Drifted')).message, /\/data\/x/)
    assert.match((await stage.events('Fight')).join(), /other-operator/)
    // Others are looked after as before.
    await kube.patch(ConfigMaps, { ...ref, name: 'b' }, { data: { x: 'edited' } })
    await eventually(async () => (await stage.configMap('b'))?.data?.x === 'ours')
    // In the end it is tried again.
    await eventually(async () => (await stage.configMap('a'))?.data?.x === 'ours')
  })
})
