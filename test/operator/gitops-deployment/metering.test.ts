import * as assert from 'uvu/assert'
import { ConfigMaps } from '../../../src/api/index.ts'
import type { Phase } from '../../../src/engines/gitops/sync/meter.ts'
import type { GitOpsMeter } from '../../../src/operator/gitops-deployment/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

describe('what a delivery tells of itself', (it) => {
  const cluster = testCluster()
  let stage: Stage
  let phases: Phase[] = []
  const did = new Map<string, number>()
  let repairs = 0
  let open = () => 0
  const meter: GitOpsMeter = {
    took: (phase) => void phases.push(phase),
    did: (change, count) => void did.set(change, (did.get(change) ?? 0) + count),
    repaired(count) {
      repairs += count
    },
    watches(read) {
      open = read
    },
  }

  it.beforeEach(async () => {
    phases = []
    repairs = 0
    did.clear()
    stage = await openStage(cluster, { settings: { meter } })
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  it('is each step, each object once, and each drift that was set back', async () => {
    await stage.deploy()
    const one = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }), 'deploy/b.yaml': configMap('b') })
    await stage.synced(one)
    assert.equal([...new Set(phases)].sort(), ['apply', 'compare', 'health', 'prune', 'render', 'source'])
    assert.equal(
      [phases.filter((phase) => phase === 'health').length, phases.filter((phase) => phase === 'source').length],
      [1, 1],
    )
    assert.equal([...did], [['created', 2]])

    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) }))
    assert.equal([...did].sort(), [
      ['created', 2],
      ['pruned', 1],
    ])
    await eventually(() => open() === 1)
    await cluster.kube.patch(ConfigMaps, { name: 'a', namespace: stage.namespace }, { data: { x: 'edited' } })
    await eventually(() => repairs === 1)
  })
})
