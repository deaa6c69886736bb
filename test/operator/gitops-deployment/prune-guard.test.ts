import * as assert from 'uvu/assert'
import { GitOpsDeployments } from '../../../src/api/index.ts'
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
})
