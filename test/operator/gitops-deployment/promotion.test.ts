import * as assert from 'uvu/assert'
import { ConfigMaps, type GitOpsDeployment, GitOpsDeploymentSyncRuns, GitOpsDeployments, isTrue } from '../../../src/api/index.ts'
import { hours, isFailure, minutes, systemClock } from '../../../src/std/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { at, makeSyncRun, openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

/** It is on its way until somebody says that it is ready, in a field that no manifest has. */
const PHASES = { group: '', kind: 'ConfigMap', healthy: "object.data.phase == 'ready'" }

/** Each has an object of its own, for both apply to one namespace. */
const files = (x: string) => ({ 'dev/a.yaml': configMap('dev', { x }), 'prod/a.yaml': configMap('prod', { x }) })

describe('a GitOpsDeployment that takes the commits of another', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage
  /** The operator's time is so much later than the real one. */
  let ahead = 0

  it.beforeEach(async () => {
    ahead = 0
    stage = await openStage(cluster, { clock: { ...systemClock, now: () => systemClock.now() + ahead } })
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const from = (deployment: string, how: { healthyFor?: string; path?: string } = {}): Partial<GitOpsDeployment['spec']> => {
    const { path = 'prod', ...others } = how
    return { source: { ...at(path).source, repoURL: at('').source?.repoURL ?? '', path, follow: { deployment, ...others } } }
  }
  const ref = (name: string) => ({ name, namespace: stage.namespace })
  const promotion = async () => (await stage.status('prod')).promotion
  const waitsFor = (reason: string) =>
    eventually(async () => {
      const { next } = (await promotion()) ?? {}
      assert.is(next?.reason, reason, JSON.stringify(next))
      return next
    })
  const dataOf = async (name: string) => (await stage.configMap(name))?.data?.x
  const runIs = (name: string, phase: string) =>
    expectObject(kube, GitOpsDeploymentSyncRuns, ref(name), ({ status }) =>
      assert.is(status?.phase, phase, JSON.stringify(status)),
    )
  const touch = (name: string, spec: object) => kube.patch(GitOpsDeployments, ref(name), { spec })

  it('has none until the other one is in good health, and keeps what it took when that one is not any more', async () => {
    await stage.deploy({ ...at('dev'), healthRules: [PHASES] }, 'dev')
    await stage.deploy(from('dev'), 'prod')
    const first = await stage.git.push(files('1'))
    await eventually(async () => /dev, which is not Ready \(Progressing\)/.test((await promotion())?.next?.message ?? ''))
    await stage.complains('WaitingForPromotion', 'prod')
    assert.is(await stage.configMap('prod'), undefined)

    await kube.patch(ConfigMaps, ref('dev'), { data: { phase: 'ready' } }, { manager: 'somebody' })
    await stage.synced(first, 'prod')
    assert.is((await promotion())?.revision, first)
    assert.is((await promotion())?.next, undefined)
    assert.equal(await stage.events('Promoted'), [`commit ${first.slice(0, 12)} is taken from dev`])

    // The next one is not, and what is changed by hand is set back to the one before.
    await kube.patch(ConfigMaps, ref('dev'), { data: { phase: 'ill' } }, { manager: 'somebody' })
    const second = await stage.git.push(files('2'))
    await eventually(async () => (await dataOf('dev')) === '2')
    assert.is((await waitsFor('DependencyNotReady'))?.revision, second)
    await kube.patch(ConfigMaps, ref('prod'), { data: { x: '9' } }, { manager: 'somebody' })
    await eventually(async () => (await dataOf('prod')) === '1')
    await stage.restart()
    await kube.patch(ConfigMaps, ref('prod'), { data: { x: '8' } }, { manager: 'somebody' })
    await eventually(async () => (await dataOf('prod')) === '1')
    await stage.synced(first, 'prod')
  })

  it('waits for as long as is asked for, and no longer', async () => {
    await stage.deploy(at('dev'), 'dev')
    await stage.deploy(from('dev', { healthyFor: '10m' }), 'prod')
    const first = await stage.git.push(files('1'))
    const next = await waitsFor('HealthyTooShort')
    assert.match(next?.message ?? '', /has been in good health at dev since .*, and has to be for 10m/)
    ahead += minutes(9)
    await touch('prod', { interval: '9m' })
    await eventually(async () => (await stage.status('prod')).observedGeneration === 2)
    assert.is(await stage.configMap('prod'), undefined)
    ahead += minutes(1)
    await touch('prod', { interval: '8m' })
    await stage.synced(first, 'prod')
  })

  it('is woken by time alone, also where the commit before cannot be applied', async () => {
    await stage.deploy(at('dev'), 'dev')
    await stage.deploy(from('dev'), 'prod')
    await stage.git.push({ ...files('1'), 'prod/a.yaml': 'no: kind' })
    await eventually(async () => isTrue((await stage.status('prod')).conditions, 'SyncError'))
    await touch('prod', { source: { follow: { healthyFor: '4s' } } })
    const second = await stage.git.push(files('2'))
    await stage.synced(second, 'prod')
  })

  it('takes nothing outside of its windows, unless it is asked to', async () => {
    const windows = [{ kind: 'Allow' as const, schedule: '0 0 29 2 *', duration: '1m' }]
    await stage.deploy(at('dev'), 'dev')
    await stage.deploy({ ...from('dev'), syncWindows: windows }, 'prod')
    const first = await stage.git.push(files('1'))
    assert.match((await waitsFor('OutsideSyncWindow'))?.message ?? '', /the next sync window opens at/)
    assert.is((await promotion())?.revision, undefined)
    await kube.patch(GitOpsDeployments, ref('prod'), { metadata: { annotations: { 'gitops.berth.dev/sync': 'now' } } })
    await stage.synced(first, 'prod')
  })

  it('offers commits to a person where it is manual, and says who took one', async () => {
    await stage.deploy(at('dev'), 'dev')
    await stage.deploy({ ...from('dev'), type: 'manual' }, 'prod')
    const first = await stage.git.push(files('1'))
    const offered = await waitsFor('WaitingForApproval')
    assert.is(offered?.revision, first)
    assert.match(offered?.message ?? '', /berth promote prod -n gitops/)
    assert.is(await stage.configMap('prod'), undefined)
    await makeSyncRun(kube, ref('yes'), {
      ...{ gitopsDeploymentName: 'prod', revisionID: first },
      approval: { from: '', seen: 'prod with commit 1: 1 to create.' },
    })
    await runIs('yes', 'Succeeded')
    await stage.synced(first, 'prod')
    const taken = await eventually(async () => {
      const now = await promotion()
      return now?.revision === first && now.next === undefined ? now : undefined
    })
    assert.is(taken.run, 'yes')
    assert.match((await stage.events('Promoted'))[0] ?? '', `commit ${first.slice(0, 12)} is taken by `)

    // What was seen was another change than what it would be now.
    const second = await stage.git.push(files('2'))
    await eventually(async () => (await promotion())?.next?.revision === second)
    await makeSyncRun(kube, ref('late'), {
      ...{ gitopsDeploymentName: 'prod', revisionID: second },
      approval: { from: '0'.repeat(40), seen: '' },
    })
    const late = await runIs('late', 'Failed')
    assert.match(late.status?.conditions?.[0]?.message ?? '', /spec.approval.from: 0+ was in effect .*, and by now /)
    assert.is(await dataOf('prod'), '1')
  })

  it('does not go by itself to what somebody went back from, and goes on with the next one', async () => {
    await stage.deploy(at('dev'), 'dev')
    await stage.deploy(from('dev'), 'prod')
    const first = await stage.git.push(files('1'))
    await stage.synced(first, 'prod')
    const second = await stage.git.push(files('2'))
    await stage.synced(second, 'prod')
    // As `berth rollback` and `berth resume --automated` do.
    await touch('prod', { type: 'manual' })
    await makeSyncRun(kube, ref('back'), { gitopsDeploymentName: 'prod', revisionID: first })
    await runIs('back', 'Succeeded')
    await eventually(async () => (await dataOf('prod')) === '1')
    await touch('prod', { type: 'automated' })
    assert.is((await waitsFor('WasInEffect'))?.revision, second)
    await stage.synced(first, 'prod')
    assert.is(await dataOf('prod'), '1')
    const third = await stage.git.push(files('3'))
    await stage.synced(third, 'prod')
    // Asked for by name, it is taken again.
    await makeSyncRun(kube, ref('again'), { gitopsDeploymentName: 'prod', revisionID: second })
    await runIs('again', 'Succeeded')
    await stage.synced(second, 'prod')
    assert.is((await promotion())?.run, 'again')
  })

  it('does not go by itself to what was never in good health here, and was gone back from', async () => {
    await stage.deploy(at('dev'), 'dev')
    await stage.deploy({ ...from('dev'), healthRules: [PHASES] }, 'prod')
    const well = (x: string) => ({ ...files(x), 'prod/a.yaml': configMap('prod', { x, phase: 'ready' }) })
    const first = await stage.git.push(well('1'))
    await stage.synced(first, 'prod')
    const second = await stage.git.push({ ...well('2'), 'prod/a.yaml': configMap('prod', { x: '2', phase: 'ill' }) })
    await eventually(async () => (await stage.status('prod')).sync?.revision === second)
    await touch('prod', { type: 'manual' })
    await makeSyncRun(kube, ref('back'), { gitopsDeploymentName: 'prod', revisionID: first })
    await runIs('back', 'Succeeded')
    assert.is((await waitsFor('WasInEffect'))?.revision, second)
    // Whoever asks for a synchronisation has not asked for that commit.
    await makeSyncRun(kube, ref('sync'), { gitopsDeploymentName: 'prod' })
    assert.is((await runIs('sync', 'Succeeded')).status?.revision, first)
    await touch('prod', { type: 'automated' })
    await stage.synced(first, 'prod')
    const third = await stage.git.push(well('3'))
    await stage.synced(third, 'prod')
    assert.equal((await promotion())?.left, [second])
  })

  it('does not take a commit by itself to which the other one went back', async () => {
    await stage.deploy(at('dev'), 'dev')
    await stage.deploy(from('dev'), 'prod')
    await stage.synced(await stage.git.push(files('1')), 'prod')
    await touch('prod', { suspend: true })
    await stage.complains('Suspended', 'prod')
    const second = await stage.git.push(files('2'))
    await stage.synced(second, 'dev')
    const third = await stage.git.push(files('3'))
    await stage.synced(third, 'dev')
    await touch('prod', { suspend: false })
    await stage.synced(third, 'prod')
    await touch('dev', { type: 'manual' })
    await makeSyncRun(kube, ref('back'), { gitopsDeploymentName: 'dev', revisionID: second })
    await runIs('back', 'Succeeded')
    assert.is((await waitsFor('WasInEffect'))?.revision, second)
    assert.is(await dataOf('prod'), '3')
  })

  it('lets go what it took and has not begun, when the other one goes back', async () => {
    await stage.deploy(at('dev'), 'dev')
    await stage.deploy(from('dev'), 'prod')
    const first = await stage.git.push(files('1'))
    await stage.synced(first, 'prod')
    // What it is to apply cannot be had.
    const second = await stage.git.push({ ...files('2'), 'prod/a.yaml': 'no: kind' })
    await eventually(async () => (await promotion())?.revision === second)
    await kube.patch(ConfigMaps, ref('prod'), { data: { x: '9' } }, { manager: 'somebody' })
    await eventually(async () => (await dataOf('prod')) === '1')
    await touch('dev', { type: 'manual' })
    await makeSyncRun(kube, ref('back'), { gitopsDeploymentName: 'dev', revisionID: first })
    await runIs('back', 'Succeeded')
    await eventually(async () => (await promotion())?.revision === first)
    await stage.synced(first, 'prod')
  })

  it('does what a manual one is asked for by its annotation, and stays there', async () => {
    await stage.deploy(at('dev'), 'dev')
    await stage.deploy({ ...from('dev'), type: 'manual' }, 'prod')
    await stage.git.push(files('1'))
    await waitsFor('WaitingForApproval')
    const ask = (word: string) =>
      kube.patch(GitOpsDeployments, ref('prod'), { metadata: { annotations: { 'gitops.berth.dev/sync': word } } })
    await ask('one')
    await eventually(async () => (await dataOf('prod')) === '1')
    const second = await stage.git.push(files('2'))
    await eventually(async () => (await promotion())?.next?.revision === second)
    await ask('two')
    await stage.synced(second, 'prod')
    assert.is((await promotion())?.revision, second)
    await touch('prod', { type: 'automated' })
    await stage.synced(second, 'prod')
    assert.is((await promotion())?.next, undefined)
  })

  it('stays well, and is repaired, while what is offered cannot be had, or the other one is changed', async () => {
    await stage.deploy(at('dev'), 'dev')
    await stage.deploy(from('dev'), 'prod')
    const first = await stage.git.push(files('1'))
    await stage.synced(first, 'prod')
    await touch('dev', { source: { repoURL: 'https://git.example.com/team-a/other' } })
    await waitsFor('PromotionInvalid')
    await kube.patch(ConfigMaps, ref('prod'), { data: { x: '9' } }, { manager: 'somebody' })
    await eventually(async () => (await dataOf('prod')) === '1')
    await stage.synced(first, 'prod')
    assert.match((await stage.events('PromotionInvalid'))[0] ?? '', /dev deploys https:.*other/)
  })

  it('keeps the name of who approved what would have come by itself', async () => {
    await stage.deploy(at('dev'), 'dev')
    const windows = [{ kind: 'Deny' as const, schedule: '* * * * *', duration: '1m' }]
    await stage.deploy({ ...from('dev'), syncWindows: windows }, 'prod')
    const first = await stage.git.push(files('1'))
    await waitsFor('OutsideSyncWindow')
    await makeSyncRun(kube, ref('yes'), {
      ...{ gitopsDeploymentName: 'prod', revisionID: first },
      approval: { from: '', seen: '', generation: 1 },
    })
    await runIs('yes', 'Succeeded')
    await eventually(async () => (await promotion())?.run === 'yes')
    await touch('prod', { interval: '9m' })
    const second = await stage.git.push(files('2'))
    await eventually(async () => (await promotion())?.next?.revision === second)
    const approval = { from: first, seen: '', generation: 1 }
    await makeSyncRun(kube, ref('late'), { gitopsDeploymentName: 'prod', revisionID: second, approval })
    assert.match((await runIs('late', 'Failed')).status?.conditions?.[0]?.message ?? '', /spec.approval.generation: the spec/)
    const vague = makeSyncRun(kube, ref('vague'), { gitopsDeploymentName: 'prod', revisionID: 'main', approval })
    const refused = await vague.catch((thrown: unknown) => thrown)
    assert.ok(isFailure(refused, 'invalid'))
    assert.match(refused.message, /what is approved is a commit; write the whole of it into revisionID/)
  })

  it('keeps what was in effect when it is told to take commits from another one', async () => {
    await stage.deploy({ ...at('prod') }, 'prod')
    const first = await stage.git.push(files('1'))
    await stage.synced(first, 'prod')
    await touch('prod', { source: { follow: { deployment: 'dev' } } })
    assert.match((await waitsFor('DependencyNotReady'))?.message ?? '', /dev, which does not exist/)
    await stage.git.push(files('2'))
    await kube.patch(ConfigMaps, ref('prod'), { data: { x: '9' } }, { manager: 'somebody' })
    await eventually(async () => (await dataOf('prod')) === '1')
    await stage.synced(first, 'prod')
  })

  it('forgets what it took when it follows a branch again', async () => {
    await stage.deploy(at('dev'), 'dev')
    await stage.deploy(from('dev'), 'prod')
    await stage.synced(await stage.git.push(files('1')), 'prod')
    await touch('prod', { source: { follow: null } })
    const second = await stage.git.push(files('2'))
    await stage.synced(second, 'prod')
    await eventually(async () => (await stage.status('prod')).promotion === undefined)
    await touch('prod', { source: { follow: { deployment: 'missing' } } })
    await waitsFor('DependencyNotReady')
    await stage.synced(second, 'prod')
    assert.is(await dataOf('prod'), '2')
  })

  it('says what is wrong with the spec', async () => {
    await stage.deploy(from('prod', { path: 'dev' }), 'dev')
    await stage.deploy(from('dev'), 'prod')
    const circle = await stage.complains('DependencyCycle', 'prod')
    assert.match(circle.message, /spec.source.follow goes round in a circle: .*prod -> .*dev -> .*prod/)
    await touch('dev', { source: { follow: null, repoURL: 'https://git.example.com/team-a/other' } })
    assert.match((await stage.complains('PromotionInvalid', 'prod')).message, /dev deploys https:.*other, not https:.*shop/)
    const refused = async (spec: Partial<GitOpsDeployment['spec']>, why: RegExp) => {
      const failure = await stage.deploy(spec, 'refused').catch((thrown: unknown) => thrown)
      assert.ok(isFailure(failure, 'invalid'))
      assert.match(failure.message, why)
    }
    const { source } = from('dev')
    assert.ok(source)
    await refused({ source: { ...source, targetRevision: 'main' } }, /leave targetRevision and semver out/)
    await refused(from('refused'), /names this object itself/)
    await refused(from('dev', { healthyFor: 'soon' }), /healthyFor/)
    await refused(from('dev', { healthyFor: `${hours(9000)}s` }), /healthyFor/)
  })
})
