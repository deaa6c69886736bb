import * as assert from 'uvu/assert'
import { Deployments, GitOpsDeployments, isTrue } from '../../../src/api/index.ts'
import { pause, systemClock } from '../../../src/std/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage, sayEmpty } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

/** Its pods stay pending: no node has such a label. */
const web = (name: string, how: { image?: string; deadline?: number; stuck?: boolean } = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: 1,
    ...(how.deadline && { progressDeadlineSeconds: how.deadline }),
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        ...(how.stuck && { nodeSelector: { nowhere: 'at-all' } }),
        containers: [{ name: 'web', image: how.image ?? 'example.com/web:1' }],
      },
    },
  },
})

describe('a deployment whose objects take their time', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage

  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  it('says that nothing has been pushed yet, as its GitProject knows', async () => {
    await stage.deploy()
    await sayEmpty(cluster, stage)
    const { message } = await stage.complains('RepositoryEmpty')
    assert.is(
      message,
      `nothing has been pushed to GitProject ${stage.namespace}/shop yet. Push a commit to it; \`berth poke\` has kas look at once`,
    )
    assert.is(isTrue((await stage.status()).conditions, 'SyncError'), false)
    assert.equal(await stage.events('RepositoryEmpty'), [message])
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a') }))
  })

  it('asks nobody how they do while it waits', async () => {
    await stage.deploy()
    await stage.git.push({ 'deploy/web.yaml': web('web', { stuck: true }) })
    await eventually(async () => /0 of 1 replicas are available/.test((await stage.status()).health?.message ?? ''))
    await stage.operator.quiet()
    const before = { ...stage.operator.requests }
    await pause(systemClock, 6000)
    assert.equal({ ...stage.operator.requests, watch: 0 }, { ...before, watch: 0 })
  })

  it('gives up waiting at once when a new commit comes, and is ready as soon as all are well', async () => {
    await stage.deploy()
    await stage.git.push({ 'deploy/web.yaml': web('web', { stuck: true }) })
    await eventually(async () => (await stage.status()).health?.status === 'Progressing')
    const commit = await stage.git.push({ 'deploy/web.yaml': web('web') })
    await eventually(async () => {
      const now = await kube.get(Deployments, { name: 'web', namespace: stage.namespace })
      return now?.spec?.template.spec?.nodeSelector === undefined
    })
    await stage.synced(commit)
  })

  it('deletes what left the repository only when all that is in it is healthy, if it is to prune last', async () => {
    await stage.deploy({ syncPolicy: { syncOptions: ['PruneLast=true'] } })
    await stage.synced(await stage.git.push({ 'deploy/web.yaml': web('web'), 'deploy/old.yaml': configMap('old') }))
    const sick = await stage.git.push({ 'deploy/web.yaml': web('web', { stuck: true, image: 'example.com/web:2' }) })
    const { message } = await stage.complains('Waiting')
    assert.match(message, /ConfigMap \S+\/old .*it stays until Deployment\.apps \S+\/web is healthy/)
    assert.equal((await stage.status()).sync, { status: 'OutOfSync', revision: sick })
    assert.ok(await stage.configMap('old'))
    await stage.synced(await stage.git.push({ 'deploy/web.yaml': web('web', { image: 'example.com/web:3' }) }))
    assert.is(await stage.configMap('old'), undefined)
  })

  it('fails fast, in the words of the object', async () => {
    await stage.deploy()
    await stage.git.push({ 'deploy/web.yaml': web('web', { stuck: true, deadline: 1 }) })
    const ready = await stage.complains('Degraded')
    assert.match(ready.message, /Deployment\.apps .*\/web .*has timed out progressing/)
  })

  it('is degraded by a pod that cannot be placed, though nothing more is heard of it', async () => {
    await stage.deploy()
    const spec = { nodeSelector: { nowhere: 'at-all' }, containers: [{ name: 'web', image: 'example.com/web:1' }] }
    await stage.git.push({ 'deploy/pod.yaml': { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'lonely' }, spec } })
    const ready = await stage.complains('Degraded', 'shop', { within: 60_000 })
    assert.match(ready.message, /Pod .*\/lonely .*nodes are available/)
  })

  it('reads and writes nothing while it is suspended, and catches up in one pass', async () => {
    await stage.deploy()
    const files = { 'deploy/a.yaml': configMap('a', { x: '1' }) }
    await stage.synced(await stage.git.push(files))
    const suspend = (is: boolean) =>
      kube.patch(GitOpsDeployments, { name: 'shop', namespace: stage.namespace }, { spec: { suspend: is } })
    await suspend(true)
    await stage.complains('Suspended')
    await stage.operator.quiet()
    const before = { ...stage.operator.requests }
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }) })
    await pause(systemClock, 1500)
    // A watch may be opened anew at any time.
    assert.equal({ ...stage.operator.requests, watch: 0 }, { ...before, watch: 0 })
    assert.is((await stage.configMap('a'))?.data?.x, '1')
    await suspend(false)
    await stage.synced(commit)
    assert.is((await stage.configMap('a'))?.data?.x, '2')
  })
})
