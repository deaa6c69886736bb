import { equal, is, match, not, ok } from 'uvu/assert'
import { GitOpsDeploymentSyncRuns } from '../../../src/api/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { type McpClient, mcpClient } from './client.ts'

const secret = (value: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' }, stringData: { value } })

describe('GitOpsDeployments by berth mcp', (it) => {
  const cluster = testCluster()
  let stage: Stage
  let mcp: McpClient
  it.before(async () => {
    stage = await openStage(cluster)
    mcp = await mcpClient(cluster.kubeconfig, '-n', stage.namespace)
  })
  it.after(async () => {
    await mcp.close()
    await stage.stop()
    await cluster.close()
  })

  it('are listed, looked at, compared and synchronised, by a dry run first', async () => {
    const { git, namespace } = stage
    const commit = await git.push({ 'deploy/a.yaml': configMap('a', { x: 'one' }), 'deploy/s.yaml': secret('canary-value') })
    await stage.deploy({ type: 'manual' })
    await stage.complains('WaitingForSyncRun')

    const diff = await mcp.call('diff_deployment', { name: 'shop' })
    is(diff.isError, false, diff.text)
    match(diff.text.replaceAll('\n', ' '), `with commit ${commit.slice(0, 12)}: 2 to create.`)
    const dry = await mcp.call('sync_deployment', { name: 'shop' })
    match(dry.text, `Nothing was synchronised: that needs dry_run: false and revision: ${commit}.`)
    is(await stage.configMap('a'), undefined)
    equal(await cluster.kube.list(GitOpsDeploymentSyncRuns, { namespace }), [])

    const real = await mcp.call('sync_deployment', { name: 'shop', dry_run: false, revision: commit })
    is(real.isError, false, real.text)
    equal((await stage.configMap('a'))?.data, { x: 'one' })
    const { data } = await mcp.call('list_deployments')
    equal(
      data.deployments.map(({ name, revision, suspended }: Record<string, unknown>) => [name, revision, suspended]),
      [['shop', commit, false]],
    )
    const got = await mcp.call('get_deployment', { name: 'shop' })
    equal(
      got.data.objects.map(({ kind, name, sync }: Record<string, unknown>) => [kind, name, sync]),
      [
        ['ConfigMap', 'a', 'Synced'],
        ['Secret', 'key', 'Synced'],
      ],
    )
    is(got.data.source.path, 'deploy')

    await git.push({ 'deploy/a.yaml': 'kind: [', 'deploy/s.yaml': secret('canary-value') })
    const broken = await mcp.call('diff_deployment', { name: 'shop' })
    equal([broken.isError, broken.text.includes('deploy/a.yaml')], [true, true], broken.text)
    for (const { text } of [diff, dry, real, got, broken]) not.match(text, 'canary-value')
  })

  it('are synchronised with the commit that a dry run has shown, and with no other', async () => {
    const { git } = stage
    const shown = await git.push({ 'deploy/m.yaml': configMap('m', { x: 'shown' }) })
    await stage.deploy({ type: 'manual' }, 'pinned')
    await stage.complains('WaitingForSyncRun', 'pinned')
    match((await mcp.call('sync_deployment', { name: 'pinned' })).text, `revision: ${shown}.`)
    const bare = await mcp.call('sync_deployment', { name: 'pinned', dry_run: false })
    equal([bare.isError, bare.text.includes('revision is missing.')], [true, true], bare.text)
    const newer = await git.push({ 'deploy/m.yaml': configMap('m', { x: 'newer' }) })
    const late = await mcp.call('sync_deployment', { name: 'pinned', dry_run: false, revision: shown })
    equal([late.isError, late.text.includes(`which is commit ${newer}. Nothing was synchronised.`)], [true, true], late.text)
    is(await stage.configMap('m'), undefined)

    const done = await mcp.call('sync_deployment', { name: 'pinned', dry_run: false, revision: newer })
    is(done.isError, false, done.text)
    equal((await stage.configMap('m'))?.data, { x: 'newer' })
    const runs = await cluster.kube.list(GitOpsDeploymentSyncRuns, { namespace: stage.namespace })
    equal(
      runs.filter(({ spec }) => spec.gitopsDeploymentName === 'pinned').map(({ spec }) => spec.revisionID),
      [newer],
    )
  })

  it('leave deletions that a guard holds back to a person', async () => {
    const { git } = stage
    await stage.deploy({ source: { repoURL: 'https://git.example.com/team-a/shop', path: 'held' } }, 'held')
    await stage.synced(await git.push({ 'held/h.yaml': configMap('h') }), 'held')
    const revision = await git.push({ 'held/README.md': 'nothing here' })
    await stage.complains('NothingRendered', 'held')
    const held = await mcp.call('sync_deployment', { name: 'held', dry_run: false, revision, timeout_seconds: 60 })
    equal([held.isError, held.text.includes('Only a person may confirm them')], [true, true], held.text)
    not.match(held.text, 'berth sync')
    ok(await stage.configMap('h'))
  })

  it('and Agents of which there is none', async () => {
    equal((await mcp.call('list_agents')).data.agents, [])
    const none = await mcp.call('get_deployment', { name: 'none' })
    equal([none.isError, none.text.includes(`there is no GitOpsDeployment none in namespace ${stage.namespace}.`)], [true, true])
  })
})
