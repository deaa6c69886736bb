import * as assert from 'uvu/assert'
import { ConfigMaps, type GitOpsDeployment, GitOpsDeploymentSyncRuns, GitOpsDeployments } from '../../../src/api/index.ts'
import { INVENTORY_LABEL, OWNER_LABEL } from '../../../src/engines/gitops/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { at, makeSyncRun, openStage } from '../../support/deployments.ts'
import { deathsOf, dieAtEach, lifeOf, mortal } from '../../support/mortal.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectGone, expectObject } from '../../support/verbs.ts'

type Policy = NonNullable<GitOpsDeployment['spec']['deletionPolicy']>

/** Lives that are lived at the same time. */
const AT_ONCE = 4
const PATIENCE = { within: 60_000 }

describe('an operator that is killed after any of its writes for a GitOpsDeployment', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  it.after(() => cluster.close())

  /** A stage whose operator dies after so many writes, and has another one in its place then. */
  async function openMortal(writes: number) {
    const life = lifeOf(writes)
    let isMortal = true
    const stage = await openStage(cluster, { via: (api) => (isMortal ? mortal(api, life) : api) })
    const replaced = life.end.then(() => {
      isMortal = false
      return stage.restart()
    })
    const end = async () => {
      if (life.left <= 0) await replaced
      await stage.stop()
      if (life.left > 0) return
      // The Events that it told at its end may have been its death.
      await replaced
      await stage.stop()
    }
    return { life, stage, end }
  }

  /** Born, changed, pruned, moved to another deployment, deleted; how many writes there were in all, and before the deletion. */
  async function live(policy: Policy, writes: number): Promise<{ all: number; before: number }> {
    const { life, stage, end } = await openMortal(writes)
    const { namespace } = stage
    const uidOf = async (name: string) => (await stage.configMap(name))?.metadata.uid
    const both = (commit: string) =>
      Promise.all([stage.synced(commit, 'shop', PATIENCE), stage.synced(commit, 'other', PATIENCE)])

    await stage.deploy({ deletionPolicy: policy })
    await stage.deploy(at('other'), 'other')
    const keep = { 'other/keep.yaml': configMap('keep') }
    const first = {
      'deploy/a.yaml': configMap('a', { x: '1' }),
      'deploy/b.yaml': configMap('b'),
      'deploy/c.yaml': configMap('c'),
    }
    await both(await stage.git.push({ ...first, ...keep }))
    const [a, b, c] = [await uidOf('a'), await uidOf('b'), await uidOf('c')]
    assert.ok(a && b && c)

    const changed = {
      'deploy/a.yaml': configMap('a', { x: '2' }),
      'deploy/c.yaml': configMap('c'),
      'deploy/d.yaml': configMap('d'),
    }
    await both(await stage.git.push({ ...changed, ...keep }))
    assert.equal([await uidOf('a'), await uidOf('b'), await uidOf('c')], [a, undefined, c], 'changed in place, pruned, let be')
    assert.is((await stage.configMap('a'))?.data?.x, '2')

    const { 'deploy/c.yaml': moved, ...rest } = changed
    await both(await stage.git.push({ ...rest, 'other/c.yaml': moved, ...keep }))
    assert.is(await uidOf('c'), c, 'moved from one to the other')
    const other = (await kube.get(GitOpsDeployments, { name: 'other', namespace }))?.metadata.uid
    assert.is((await stage.configMap('c'))?.metadata.labels?.[OWNER_LABEL], other)

    const before = life.written
    const d = await uidOf('d')
    await kube.delete(GitOpsDeployments, { name: 'shop', namespace })
    await expectGone(kube, GitOpsDeployments, { name: 'shop', namespace }, PATIENCE)
    await eventually(async () => {
      const staying = policy === 'Orphan' ? [a, d] : [undefined, undefined]
      assert.equal([await uidOf('a'), await uidOf('d')], staying, 'by the policy')
      const maps = await kube.list(ConfigMaps, { namespace, labels: INVENTORY_LABEL })
      assert.equal(
        maps.map(({ metadata }) => metadata.name),
        ['other.inventory'],
      )
      return true
    }, PATIENCE)
    assert.equal(await namesOf(namespace, OWNER_LABEL), ['c', 'keep'], 'nothing else carries a mark')
    await end()
    return { all: life.written, before }
  }

  const namesOf = async (namespace: string, labels: string) =>
    (await kube.list(ConfigMaps, { namespace, labels })).map(({ metadata }) => metadata.name).sort()

  it('leaves what one that lives on leaves, from the first apply to the end', async () => {
    const { all } = await live('Wait', Number.POSITIVE_INFINITY)
    assert.ok(all >= 20, `a whole life has ${all} writes`)
    await dieAtEach(deathsOf(all), AT_ONCE, (writes) => live('Wait', writes))
  })

  /** The first of two commits is under way when it dies after so many writes; how many writes that commit takes. */
  async function leaveAnHeir(writes: number): Promise<number> {
    const life = lifeOf(writes)
    let isMortal = true
    const stage = await openStage(cluster, { via: (api) => (isMortal ? mortal(api, life) : api) })
    const names = ['a', 'b', 'c', 'd']
    const pushed = (kept: string[]) =>
      stage.git.push(Object.fromEntries(kept.map((name) => [`deploy/${name}.yaml`, configMap(name)])))
    await stage.deploy({ deletionPolicy: 'Wait' })
    const first = await pushed(names)
    // One look at a time: what waits for a deployment that has died would hold the process open.
    await eventually(async () => life.left <= 0 || (await stage.synced(first, 'shop', { within: 0 })), PATIENCE)
    isMortal = false
    const { written } = life
    const second = await pushed(['a'])
    await stage.restart()
    await stage.synced(second, 'shop', PATIENCE)
    assert.equal(await namesOf(stage.namespace, OWNER_LABEL), ['a'])
    await stage.stop()
    return written
  }

  it('is heir to what was on its way when it died and has left the repository since', async () => {
    const all = await leaveAnHeir(Number.POSITIVE_INFINITY)
    await dieAtEach(deathsOf(all), AT_ONCE, leaveAnHeir)
  })

  /** Commits are taken from another deployment, and a run goes back; how many writes that takes. */
  async function promote(writes: number): Promise<number> {
    const { life, stage, end } = await openMortal(writes)
    const { namespace } = stage
    const files = (x: string) => ({ 'deploy/a.yaml': configMap('a', { x }), 'prod/b.yaml': configMap('b', { x }) })
    const has = (revision: string) => stage.synced(revision, 'prod', PATIENCE)
    await stage.deploy()
    const { source } = at('prod')
    assert.ok(source)
    await stage.deploy({ source: { ...source, follow: { deployment: 'shop' } } }, 'prod')
    const first = await stage.git.push(files('1'))
    await has(first)
    const second = await stage.git.push(files('2'))
    await has(second)
    await kube.patch(GitOpsDeployments, { name: 'prod', namespace }, { spec: { type: 'manual' } })
    await makeSyncRun(kube, { name: 'back', namespace }, { gitopsDeploymentName: 'prod', revisionID: first })
    await expectObject(
      kube,
      GitOpsDeploymentSyncRuns,
      { name: 'back', namespace },
      ({ status }) => assert.is(status?.phase, 'Succeeded', JSON.stringify(status)),
      PATIENCE,
    )
    await eventually(async () => {
      const { promotion } = await stage.status('prod')
      assert.equal([promotion?.revision, promotion?.run, promotion?.next?.reason], [first, 'back', 'WasInEffect'])
      return true
    }, PATIENCE)
    assert.is((await stage.configMap('b'))?.data?.x, '1')
    await end()
    return life.written
  }

  it('takes the commits of another one as one that lives on does', async () => {
    const all = await promote(Number.POSITIVE_INFINITY)
    await dieAtEach(deathsOf(all), AT_ONCE, promote)
  })

  for (const policy of ['Delete', 'Orphan'] as const) {
    it(`leaves what one that lives on leaves, in a deletion under ${policy}`, async () => {
      const { all, before } = await live(policy, Number.POSITIVE_INFINITY)
      await dieAtEach(
        deathsOf(all - before + 2).map((writes) => before - 2 + writes),
        AT_ONCE,
        (writes) => live(policy, writes),
      )
    })
  }
})
