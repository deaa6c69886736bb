import * as assert from 'uvu/assert'
import { type GitOpsDeployment, GitOpsDeployments } from '../../../src/api/index.ts'
import type { Entry } from '../../../src/engines/gitops/index.ts'
import { isSpent } from '../../../src/operator/gitops-deployment/status/requests.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

describe('a GitOpsDeployment of which much leaves the repository', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage

  it.beforeEach(async () => {
    stage = await openStage(cluster)
    await stage.deploy()
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const files = (count: number, from = 0) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`deploy/${n + from}.yaml`, configMap(`settings-${n + from}`)]))
  const confirm = (commit: string) =>
    kube.patch(
      GitOpsDeployments,
      { name: 'shop', namespace: stage.namespace },
      { metadata: { annotations: { 'gitops.berth.dev/confirm-prune': commit } } },
    )

  it('applies what is new, says what waits and how to confirm it, and deletes when that is done', async () => {
    await stage.synced(await stage.git.push(files(12)))
    const commit = await stage.git.push({ ...files(4), 'deploy/new.yaml': configMap('new') })
    const { message } = await stage.complains('PruneTooMany')
    assert.match(message, `kubectl annotate gitopsdeployment shop -n ${stage.namespace} gitops.berth.dev/confirm-prune=${commit}`)
    const { pendingPrune, sync } = await stage.status()
    assert.equal([pendingPrune?.reason, pendingPrune?.count, pendingPrune?.revision], ['PruneTooMany', 8, commit])
    assert.equal(sync, { status: 'OutOfSync', revision: commit })
    assert.ok((await stage.configMap('new')) && (await stage.configMap('settings-11')))
    await confirm('0123456789')
    await confirm(commit)
    assert.is((await stage.synced(commit)).pendingPrune, undefined)
    assert.is(await stage.configMap('settings-11'), undefined)
  })

  it('asks anew for each commit', async () => {
    await stage.synced(await stage.git.push(files(2)))
    const empty = await stage.git.push({ 'deploy/notes.txt': 'empty' })
    await stage.complains('NothingRendered')
    await confirm(empty)
    await eventually(async () => !(await stage.configMap('settings-0')) && !(await stage.configMap('settings-1')))
    await stage.synced(await stage.git.push(files(2)))
    await stage.git.push({ 'deploy/notes.txt': 'empty again' })
    await stage.complains('NothingRendered')
    assert.ok(await stage.configMap('settings-0'))
  })

  it('asks again when somebody goes back to a commit that was confirmed once, after a restart as before', async () => {
    await stage.synced(await stage.git.push(files(2)))
    const empty = await stage.git.push({ 'deploy/notes.txt': 'empty' })
    await stage.complains('NothingRendered')
    await confirm(empty)
    await stage.synced(empty)
    const shop = { name: 'shop', namespace: stage.namespace }
    assert.is((await kube.get(GitOpsDeployments, shop))?.metadata.annotations?.['gitops.berth.dev/confirm-prune'], undefined)
    await stage.synced(await stage.git.push(files(2)))
    await stage.restart()
    const manual = await kube.patch(GitOpsDeployments, shop, { spec: { type: 'manual' } })
    await eventually(async () => (await stage.status()).observedGeneration === manual.metadata.generation)
    await stage.run('back', empty)
    await stage.complains('NothingRendered')
    assert.ok((await stage.configMap('settings-0')) && (await stage.configMap('settings-1')))
  })
})

describe('what a GitOpsDeployment says about deletions', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage

  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const files = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`deploy/${n}.yaml`, configMap(`settings-${n}`)]))
  const empty = { 'deploy/notes.txt': 'empty' }

  it('allowEmpty lets a commit without objects take all away, unasked', async () => {
    await stage.deploy({ pruneGuard: { allowEmpty: true } })
    await stage.synced(await stage.git.push(files(2)))
    await stage.synced(await stage.git.push(empty))
    assert.equal([await stage.configMap('settings-0'), await stage.configMap('settings-1')], [undefined, undefined])
  })

  it('maxPercent lets so many go at once, and no more', async () => {
    await stage.deploy({ pruneGuard: { maxPercent: 20 } })
    await stage.synced(await stage.git.push(files(10)))
    await stage.synced(await stage.git.push(files(8)))
    assert.is(await stage.configMap('settings-9'), undefined)
    await stage.synced(await stage.git.push(files(10)))
    await stage.git.push(files(7))
    const { message } = await stage.complains('PruneTooMany')
    assert.match(message, '20')
    assert.ok(await stage.configMap('settings-9'))
    await kube.patch(
      GitOpsDeployments,
      { name: 'shop', namespace: stage.namespace },
      { spec: { pruneGuard: { maxPercent: 30 } } },
    )
    await eventually(async () => !(await stage.configMap('settings-9')) && !(await stage.configMap('settings-7')))
  })

  it('prune: false lets go of what left the repository, for good', async () => {
    await stage.deploy({ prune: false })
    await stage.synced(await stage.git.push(files(3)))
    const commit = await stage.git.push(files(2))
    assert.is((await stage.synced(commit)).inventory?.count, 2)
    const shop = { name: 'shop', namespace: stage.namespace }
    const { metadata } = await kube.patch(GitOpsDeployments, shop, { spec: { prune: true } })
    await eventually(async () => (await stage.status()).observedGeneration === metadata.generation)
    await stage.synced(await stage.git.push(files(1)))
    assert.equal(
      [await stage.configMap('settings-1'), (await stage.configMap('settings-2'))?.metadata.name],
      [undefined, 'settings-2'],
    )
  })
})

describe('a confirmation', (it) => {
  const [one, two] = ['1111111111', '2222222222']
  const deployment = (word: string, status: GitOpsDeployment['status'] = {}): GitOpsDeployment => ({
    apiVersion: 'managed-gitops.redhat.com/v1alpha1',
    kind: 'GitOpsDeployment',
    metadata: { name: 'shop', annotations: { 'gitops.berth.dev/confirm-prune': word } },
    spec: { source: { repoURL: 'https://git.example.com/x', path: '.' }, type: 'automated' },
    status,
  })
  const entry = (change: Entry['change']): Entry => ({ id: { group: '', kind: 'ConfigMap', name: 'a' }, change })
  const done = (commitId: string, ...entries: Entry[]) => ({ commitId, entries, isPostponed: false })
  const waits = { pendingPrune: { revision: one, count: 1, reason: 'NothingRendered', message: '' } }

  it('lasts until all that it lets go is gone', () => {
    assert.is(isSpent(deployment(one, waits), done(one, entry('withheld'))), false)
    assert.is(isSpent(deployment(one, waits), done(one, entry('pruned'), entry('terminating'))), false)
    assert.is(isSpent(deployment(one, waits), { ...done(one), isPostponed: true }), false)
    assert.is(isSpent(deployment(one, waits), done(one)), true)
  })

  it('that was given before there was a question lasts until there is one', () => {
    assert.is(isSpent(deployment(one), done(two)), false)
    assert.is(isSpent(deployment(one), done(one, entry('unchanged'))), false)
    assert.is(isSpent(deployment(one), done(one, entry('pruned'))), true)
  })

  it('of a commit that is passed by is void', () => {
    assert.is(isSpent(deployment(one, waits), done(two)), true)
    assert.is(isSpent(deployment(one, { sync: { status: 'Synced', revision: one } }), done(two)), true)
    assert.is(isSpent(deployment(one, { history: [{ revision: one, path: '.', at: '' }] }), done(two)), true)
  })
})
