import * as assert from 'uvu/assert'
import { ConfigMaps, GitOpsDeploymentSyncRuns, GitOpsDeployments } from '../../../src/api/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { expectGone, expectObject } from '../../support/verbs.ts'
import { berth } from '../berth.ts'

describe('acting on a GitOpsDeployment', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let stage: Stage
  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const run = (verb: string, ...more: string[]) =>
    berth([verb, 'shop', '-n', stage.namespace, '--kubeconfig', kubeconfig, ...more])
  const spec = async () => (await kube.get(GitOpsDeployments, { name: 'shop', namespace: stage.namespace }))?.spec
  const files = (...names: string[]) => Object.fromEntries(names.map((name) => [`deploy/${name}.yaml`, configMap(name)]))

  it('suspend and resume are obeyed, and may be said twice', async () => {
    const { git } = stage
    await stage.deploy()
    const first = await git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) })
    await stage.synced(first)
    assert.match((await run('suspend')).stdout, `is suspended. Let it go on with \`berth resume shop -n ${stage.namespace}\``)
    await stage.complains('Suspended')
    assert.match((await run('suspend')).stdout, 'was suspended already')
    const refused = await run('sync')
    assert.is(refused.code, 1)
    assert.match(refused.stderr, 'is suspended, so nothing would be done. Let it go on with')
    const second = await git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }) })
    assert.match((await run('resume')).stdout, 'goes on; it applies each new commit.')
    await stage.synced(second)
    assert.match((await run('resume')).stdout, 'was not suspended')
  })

  it('sync --wait ends well when everything is Ready, and repairs what no watch has told', async () => {
    await stage.deploy()
    await stage.synced(await stage.git.push(files('a')))
    const { code, stdout, stderr } = await run('sync', '--wait', '--timeout', '60')
    assert.is(code, 0, stderr)
    assert.match(stdout, `GitOpsDeployment ${stage.namespace}/shop is Ready.`)
  })

  it('sync --wait fails at once with what is wrong', async () => {
    await stage.deploy()
    await stage.git.push({ 'deploy/a.yaml': configMap('a', {}, 'kube-system') })
    const { code, stderr } = await run('sync', '--wait', '--timeout', '60')
    assert.is(code, 1)
    const said = stderr.replace(/\s+/g, ' ')
    assert.match(said, 'is not Ready. SyncFailed: an object cannot be applied: ConfigMap kube-system/a')
    assert.is(said.split('cannot be applied').length, 2, 'once')
    const { stdout } = await run('tree')
    assert.match(stdout, /ConfigMap a +OutOfSync/, stdout)
  })

  it('sync --wait says where it stands when time is up', async () => {
    await stage.deploy()
    const { code, stderr } = await run('sync', '--wait', '--timeout', '1')
    assert.is(code, 6)
    assert.match(stderr, 'not Ready within 1 s')
  })

  it('sync of a manual one creates a run and follows it', async () => {
    const { git, namespace } = stage
    await stage.deploy({ type: 'manual' })
    const commit = await git.push(files('a'))
    await stage.complains('WaitingForSyncRun')
    const { code, stderr } = await run('sync', '--wait', '--timeout', '60')
    assert.is(code, 0, stderr)
    const [made] = await kube.list(GitOpsDeploymentSyncRuns, { namespace })
    assert.equal([made?.status?.phase, made?.status?.revision], ['Succeeded', commit])
    assert.ok(await stage.configMap('a'))
  })

  it('sync --confirm-prune shows what a guard holds back, and lets it go', async () => {
    const { git, namespace } = stage
    await stage.deploy()
    await stage.synced(await git.push(files('a', 'b')))
    const empty = await git.push({ 'deploy/README.md': 'nothing here' })
    await stage.complains('NothingRendered')
    const waiting = await run('sync', '--wait', '--timeout', '60')
    assert.is(waiting.code, 1)
    assert.match(waiting.stderr, 'berth sync')
    assert.ok(await stage.configMap('b'))
    const { code, stderr } = await run('sync', '--confirm-prune', '--wait', '--timeout', '60')
    assert.is(code, 0, stderr)
    assert.match(stderr, `Confirmed for commit ${empty.slice(0, 12)}: 2 deletions (NothingRendered).`)
    for (const name of ['a', 'b']) await expectGone(kube, ConfigMaps, { name, namespace })
    assert.match((await run('sync', '--confirm-prune')).stderr, 'No deletion of')
  })

  it('rollback goes back to the last good commit, and resume --automated forward again', async () => {
    const { git, namespace } = stage
    await stage.deploy()
    const good = await git.push({ 'deploy/a.yaml': configMap('a', { x: 'good' }) })
    await stage.synced(good)
    const bad = await git.push({ 'deploy/a.yaml': configMap('a', { x: 'bad' }), 'deploy/b.yaml': configMap('b') })
    await stage.synced(bad)

    const { code, stderr } = await run('rollback', '--wait', '--timeout', '60')
    assert.is(code, 0, stderr)
    assert.match(stderr, `goes back to ${good}`)
    assert.match(stderr, `berth resume shop -n ${namespace} --automated`)
    assert.equal((await stage.configMap('a'))?.data, { x: 'good' })
    await expectGone(kube, ConfigMaps, { name: 'b', namespace })
    assert.is((await spec())?.type, 'manual')

    await run('resume', '--automated')
    await stage.synced(bad)
    await expectObject(kube, ConfigMaps, { name: 'a', namespace }, ({ data }) => assert.equal(data, { x: 'bad' }))
  })

  it('rollback leaves a commit behind that the tenant may not apply', async () => {
    const { git } = stage
    await stage.deploy()
    const good = await git.push(files('a', 'b'))
    await stage.synced(good)
    await git.push({ ...files('a'), 'deploy/x.yaml': configMap('x', {}, 'kube-system') })
    await stage.complains('SyncFailed')
    const diff = await run('diff')
    assert.match(diff.stdout, `? ConfigMap ${stage.namespace}/b (held back)`)
    const { code, stderr, stdout } = await run('rollback', '--wait', '--timeout', '60')
    assert.is(code, 0, stderr)
    assert.match(stdout, `is Ready. Commit ${good.slice(0, 12)} is in effect and healthy.`)
  })

  it('rollback goes to a commit that is named by some of its digits', async () => {
    const { git } = stage
    await stage.deploy()
    const commits: string[] = []
    for (const x of ['1', '2', '3']) {
      commits.push(await git.push({ 'deploy/a.yaml': configMap('a', { x }) }))
      await stage.synced(commits.at(-1) ?? '')
    }
    const { code, stderr } = await run('rollback', '--to', (commits[0] ?? '').slice(0, 8), '--wait', '--timeout', '60')
    assert.is(code, 0, stderr)
    assert.equal((await stage.configMap('a'))?.data, { x: '1' })
    const unknown = await run('rollback', '--to', 'feedfeed')
    assert.is(unknown.code, 3)
    assert.match(unknown.stderr, 'commit feedfeed is not in the history')
  })

  it('rollback to nothing that exists changes nothing', async () => {
    await stage.deploy()
    await stage.synced(await stage.git.push(files('a')))
    const missing = 'f'.repeat(40)
    const { code, stderr } = await run('rollback', '--to', missing, '--timeout', '60')
    assert.is(code, 7, stderr)
    assert.match(stderr, `cannot go back to ${missing}: `)
    assert.match(stderr, 'Nothing was changed.')
    assert.is((await spec())?.type, 'automated')
  })

  it('rollback leaves out what describes nothing, and what is confirmed is what is applied', async () => {
    const { git, namespace } = stage
    await stage.deploy()
    const good = await git.push(files('a'))
    await stage.synced(good)
    const empty = await git.push({ 'deploy/README.md': 'nothing here' })
    await stage.complains('NothingRendered')
    assert.is((await run('sync', '--confirm-prune', '--wait', '--timeout', '60')).code, 0)
    const newest = await git.push(files('a', 'b'))
    await stage.synced(newest)

    const back = await run('rollback', '--wait', '--timeout', '60')
    assert.is(back.code, 0, back.stderr)
    assert.match(back.stderr, `Commit ${empty.slice(0, 12)} is left out: `)
    assert.match(back.stderr, `goes back to ${good}`)

    const held = await run('rollback', '--to', empty, '--wait', '--timeout', '60')
    assert.is(held.code, 1)
    assert.ok(await stage.configMap('a'))
    const { code, stdout, stderr } = await run('sync', '--confirm-prune', '--wait', '--timeout', '60')
    assert.is(code, 0, stderr)
    assert.match(stdout, `Commit ${empty.slice(0, 12)} is in effect`)
    assert.not.match(stderr, 'kubectl annotate')
    for (const name of ['a', 'b']) await expectGone(kube, ConfigMaps, { name, namespace })
  })
})
