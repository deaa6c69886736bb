import { equal, is, match, not } from 'uvu/assert'
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
    match(dry.text, 'Nothing was synchronised: that needs dry_run: false.')
    is(await stage.configMap('a'), undefined)
    equal(await cluster.kube.list(GitOpsDeploymentSyncRuns, { namespace }), [])

    const real = await mcp.call('sync_deployment', { name: 'shop', dry_run: false })
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

  it('and Agents of which there is none', async () => {
    equal((await mcp.call('list_agents')).data.agents, [])
    const none = await mcp.call('get_deployment', { name: 'none' })
    equal([none.isError, none.text.includes(`there is no GitOpsDeployment none in namespace ${stage.namespace}.`)], [true, true])
  })
})
