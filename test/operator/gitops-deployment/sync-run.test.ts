import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import {
  ConfigMaps,
  conditionOf,
  type GitOpsDeploymentSyncRun,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  isTrue,
} from '../../../src/api/index.ts'
import { superfluous } from '../../../src/operator/gitops-deployment/runs/sync-run.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

/** Opens once a year, for a minute. */
const CLOSED = { syncWindows: [{ kind: 'Allow' as const, schedule: '0 0 29 2 *', duration: '1m' }] }

const over = (name: string, completedAt: string): GitOpsDeploymentSyncRun => ({
  apiVersion: 'managed-gitops.redhat.com/v1alpha1',
  kind: 'GitOpsDeploymentSyncRun',
  metadata: { name, namespace: 'team-a' },
  spec: { gitopsDeploymentName: 'shop' },
  status: { phase: 'Succeeded', completedAt },
})

describe('runs that are over', (it) => {
  it('are removed but for the last ten', () => {
    const runs = Array.from({ length: 12 }, (_, index) => over(`r${index}`, `2030-01-01T00:00:${10 + index}Z`))
    const waiting = { ...over('waiting', ''), status: { phase: 'Running' as const } }
    assert.equal(
      superfluous([waiting, ...runs.toReversed()]).map(({ metadata }) => metadata.name),
      ['r1', 'r0'],
    )
    assert.equal(superfluous(runs.slice(0, 10)), [])
    // Nor does whoever asks often take an approval out of sight.
    const approved = over('approved', '2029-01-01T00:00:00Z')
    const approval = { ...approved, spec: { ...approved.spec, approval: { from: '', seen: '' } } }
    assert.is(superfluous([approval, ...runs]).length, 2)
    assert.is(superfluous([{ ...approval, status: { phase: 'Failed' as const } }, ...runs]).length, 3)
    // Whoever looks often takes none of them out of sight.
    const looks = runs.map((run) => ({ ...run, spec: { ...run.spec, dryRun: true } }))
    assert.equal(superfluous([...looks, ...runs.slice(0, 10)]), [looks[1], looks[0]])
  })
})

describe('a synchronisation that is asked for before the operator has heard of its deployment', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('waits for it', async () => {
    const { promise: heard, resolve: hear } = Promise.withResolvers<void>()
    const deaf = (api: Kube): Kube => ({
      ...api,
      async stream(path, options) {
        if (path.includes('/gitopsdeployments?')) await heard
        return api.stream(path, options)
      },
    })
    const stage = await openStage(cluster, { via: deaf })
    const phaseOf = async () => {
      const run = await cluster.kube.get(GitOpsDeploymentSyncRuns, { name: 'early', namespace: stage.namespace })
      return run?.status?.phase
    }
    try {
      await stage.git.push({ 'deploy/a.yaml': configMap('a') })
      await stage.deploy({ type: 'manual' })
      await stage.run('early')
      await eventually(async () => (await phaseOf()) !== undefined)
      assert.is(await phaseOf(), 'Running')
      hear()
      await eventually(async () => (await phaseOf()) === 'Succeeded')
    } finally {
      hear()
      await stage.stop()
    }
  })
})

describe('a synchronisation that somebody asks for', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage

  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const shop = () => ({ name: 'shop', namespace: stage.namespace })
  const ended = (name: string) =>
    eventually(async () => {
      const run = await kube.get(GitOpsDeploymentSyncRuns, { name, namespace: stage.namespace })
      assert.match(run?.status?.phase ?? '', /Succeeded|Failed/)
      return run
    })
  const ask = (word: string) =>
    kube.patch(GitOpsDeployments, shop(), { metadata: { annotations: { 'gitops.berth.dev/sync': word } } })
  const answered = (word: string) =>
    eventually(async () => {
      const status = await stage.status()
      assert.is(status.lastHandledSync, word)
      return status
    })

  it('by a run passes a window that is closed, for the commit that is there, and goes with its deployment', async () => {
    await stage.deploy(CLOSED)
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) })
    await stage.complains('OutsideSyncWindow')
    await stage.run('now')
    const run = await ended('now')
    assert.equal([run.status?.phase, run.status?.revision, isTrue(run.status?.conditions, 'Ready')], ['Succeeded', commit, true])
    assert.is((await stage.configMap('a'))?.data?.x, '1')
    const { metadata } = (await kube.get(GitOpsDeployments, shop())) ?? { metadata: { uid: '' } }
    assert.equal(
      run.metadata.ownerReferences?.map(({ uid }) => uid),
      [metadata.uid],
    )
    // The next commit waits again.
    await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }) })
    await stage.complains('OutsideSyncWindow')
    assert.is((await stage.configMap('a'))?.data?.x, '1')
  })

  it('by an annotation does the same once, and not again after a restart', async () => {
    await stage.deploy(CLOSED)
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) })
    await stage.complains('OutsideSyncWindow')
    await ask('one')
    await stage.synced(commit)
    await answered('one')
    await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }) })
    await stage.complains('OutsideSyncWindow')
    await stage.stop()
    await stage.restart()
    await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '3' }) })
    await eventually(async () => stage.git.asked().length > 0)
    await stage.complains('OutsideSyncWindow')
    assert.is((await stage.configMap('a'))?.data?.x, '1')
    await ask('two')
    await answered('two')
    assert.is((await stage.configMap('a'))?.data?.x, '3')
  })

  it('that was tried in vain is answered: what is mended later waits for its window', async () => {
    await stage.deploy(CLOSED)
    await stage.git.push({ 'deploy/a.yaml': 'a: [' })
    await stage.complains('OutsideSyncWindow')
    await ask('one')
    await answered('one')
    assert.match((await stage.events('RenderFailed')).join(), /deploy\/a\.yaml:1/)
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    await stage.complains('OutsideSyncWindow')
    assert.is(await stage.configMap('a'), undefined)
  })

  it('of a manual deployment applies the commit, by run and by annotation', async () => {
    await stage.deploy({ type: 'manual' })
    const one = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) })
    await stage.complains('WaitingForSyncRun')
    await ask('one')
    await stage.synced(one)
    const two = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }) })
    // At an older commit on purpose: nothing is wrong with it, and the newer one is told.
    await eventually(async () => {
      const { sync, conditions } = await stage.status()
      const { status, message = '' } = conditionOf(conditions, 'Ready') ?? {}
      assert.equal([sync, status], [{ ...sync, status: 'OutOfSync', revision: one }, 'True'])
      assert.match(message, `commit ${two.slice(0, 12)} is there; create a GitOpsDeploymentSyncRun to apply it`)
      return true
    })
    await stage.run('second')
    assert.is((await ended('second')).status?.revision, two)
    assert.is((await stage.configMap('a'))?.data?.x, '2')
  })

  it('of a manual deployment says in its run when deletions wait, and goes on saying it in the deployment', async () => {
    await stage.deploy({ type: 'manual' })
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    await stage.run('first')
    await ended('first')
    const empty = await stage.git.push({ 'deploy/notes.txt': 'empty' })
    await stage.run('second', empty)
    const { phase, conditions } = (await ended('second')).status ?? {}
    assert.is(phase, 'Succeeded')
    assert.match(conditions?.[0]?.message ?? '', /^applied, but deletions wait \(NothingRendered\)/)
    await stage.git.push({ 'deploy/b.yaml': configMap('b') })
    const { message } = await stage.complains('NothingRendered')
    assert.match(message, `and create a GitOpsDeploymentSyncRun with revisionID ${empty}`)
    assert.ok(await stage.configMap('a'))
  })

  it('of a manual deployment sets back what was changed by hand', async () => {
    await stage.deploy({ type: 'manual' })
    await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) })
    await stage.run('first')
    await ended('first')
    await kube.patch(ConfigMaps, { ...shop(), name: 'a' }, { data: { x: 'edited' } })
    await ask('again')
    await eventually(async () => (await stage.configMap('a'))?.data?.x === '1')
  })

  it('ends at once as failed, with the reason, when an object is refused', async () => {
    await stage.deploy({ type: 'manual' })
    await stage.git.push({ 'deploy/a.yaml': configMap('Not A Name'), 'deploy/b.yaml': configMap('b') })
    await stage.run('first')
    const { status } = await ended('first')
    assert.is(status?.phase, 'Failed')
    assert.match(status?.conditions?.[0]?.message ?? '', /Not A Name/)
    assert.ok(await stage.configMap('b'))
  })

  it('waits while the deployment is suspended, and says so', async () => {
    await stage.deploy({ type: 'manual', suspend: true })
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    await stage.run('first')
    await eventually(async () => {
      const run = await kube.get(GitOpsDeploymentSyncRuns, { name: 'first', namespace: stage.namespace })
      assert.equal([run?.status?.phase, run?.status?.conditions?.[0]?.message.includes('suspended')], ['Pending', true])
      return true
    })
    await kube.patch(GitOpsDeployments, shop(), { spec: { suspend: false } })
    assert.is((await ended('first')).status?.revision, commit)
  })

  it('is refused for another revision of an automated deployment', async () => {
    await stage.deploy()
    await stage.run('other', 'v1')
    const { status } = await ended('other')
    assert.match(status?.conditions?.[0]?.message ?? '', /spec\.revisionID cannot be applied/)
  })

  it('leaves ten runs that are over', async () => {
    await stage.deploy({ type: 'manual' })
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    for (let number = 0; number < 12; number++) await stage.run(`r${String(number).padStart(2, '0')}`)
    await ended('r11')
    const names = async () => {
      const runs = await kube.list(GitOpsDeploymentSyncRuns, { namespace: stage.namespace })
      return runs.map(({ metadata }) => metadata.name).sort()
    }
    await eventually(async () => (await names()).length === 10)
    assert.is((await names()).includes('r11'), true)
  })
})
