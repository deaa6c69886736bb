import * as assert from 'uvu/assert'
import { ConfigMaps, conditionOf, GitOpsDeployments } from '../../../src/api/index.ts'
import { hours, systemClock } from '../../../src/std/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const NIGHT = { syncWindows: [{ kind: 'Allow' as const, schedule: '0 22 * * *', duration: '2h' }] }

describe('a sync window that closes', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage
  /** From the real time to half past ten in the evening, when the window is open. */
  let ahead = 0

  it.beforeEach(async () => {
    const now = systemClock.now()
    ahead = new Date(now).setUTCHours(22, 30, 0, 0) - now
    stage = await openStage(cluster, { clock: { ...systemClock, now: () => systemClock.now() + ahead } })
    await stage.deploy(NIGHT)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const shop = () => ({ name: 'shop', namespace: stage.namespace })
  const annotate = (key: string, value: string) =>
    kube.patch(GitOpsDeployments, shop(), { metadata: { annotations: { [key]: value } } })
  const files = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`deploy/${n}.yaml`, configMap(`settings-${n}`)]))

  it('keeps what waits for a confirmation until it opens again', async () => {
    await stage.synced(await stage.git.push(files(12)))
    const commit = await stage.git.push(files(4))
    await stage.complains('PruneTooMany')
    ahead += hours(2)
    await annotate('gitops.berth.dev/confirm-prune', commit)
    assert.match((await stage.complains('OutsideSyncWindow')).message, commit.slice(0, 12))
    assert.is((await stage.status()).pendingPrune?.count, 8)
    assert.ok(await stage.configMap('settings-11'))
    ahead += hours(22)
    await annotate('example.com/note', 'awake')
    await stage.synced(commit)
    assert.is(await stage.configMap('settings-11'), undefined)
  })

  it('ends the tries of a commit that is half applied, and nothing of it is pruned', async () => {
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a'), 'deploy/old.yaml': configMap('old') }))
    const bad = { ...configMap('bad'), data: { x: 7 } }
    await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }), 'deploy/bad.yaml': bad })
    await stage.complains('SyncFailed')
    ahead += hours(2)
    await annotate('example.com/note', 'awake')
    await stage.complains('OutsideSyncWindow')
    assert.ok(await stage.configMap('old'))
    // Asked for, it goes on whatever the window says: `a` is as committed.
    await annotate('gitops.berth.dev/sync', 'now')
    await stage.complains('SyncFailed')
    assert.is((await stage.configMap('a'))?.data?.x, '1')
  })

  it('lets what is in effect be repaired all the same', async () => {
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) })
    await stage.synced(commit)
    ahead += hours(2)
    await kube.patch(ConfigMaps, { name: 'a', namespace: stage.namespace }, { data: { x: 'edited' } }, { manager: 'someone' })
    await eventually(async () => (await stage.configMap('a'))?.data?.x === '1')
    assert.is(conditionOf((await stage.synced(commit)).conditions, 'Ready')?.reason, 'Synced')
  })

  it('holds a spec that was changed since, for longer than one look', async () => {
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }), 'other/b.yaml': configMap('b') })
    await stage.synced(commit)
    ahead += hours(2)
    const source = { source: { path: 'other' } }
    await kube.patch(GitOpsDeployments, shop(), { spec: source })
    await stage.complains('OutsideSyncWindow')
    await annotate('example.com/note', 'look again')
    await eventually(async () => (await stage.status()).observedGeneration === 2)
    await stage.operator.quiet()
    assert.ok(await stage.configMap('a'))
    assert.is(await stage.configMap('b'), undefined)
    await stage.complains('OutsideSyncWindow')
  })
})
