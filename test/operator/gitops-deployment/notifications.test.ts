import { createHmac } from 'node:crypto'
import * as assert from 'uvu/assert'
import { type HttpServer, type ServedRequest, type ServedResponse, serveHttp } from '../../../src/adapters/http/index.ts'
import { RoleBindings, Secrets } from '../../../src/api/index.ts'
import { silentLog, systemClock } from '../../../src/std/index.ts'
import { untilMay } from '../../support/builders/credentials.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const SECRET = 'c4nary-s3cret'
const HOOK = { notifications: [{ kind: 'Webhook' as const, secretRef: { name: 'hook' } }] }

describe('a notification', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage
  let receiver: HttpServer
  let got: ServedRequest[] = []
  let answer: () => ServedResponse | Promise<ServedResponse> = () => ({ status: 200 })

  it.beforeEach(async () => {
    got = []
    answer = () => ({ status: 200 })
    receiver = await serveHttp({
      address: '127.0.0.1:0',
      clock: systemClock,
      log: silentLog,
      respond(question) {
        got.push(question)
        return answer()
      },
    })
    stage = await openStage(cluster)
  })
  it.afterEach(async () => {
    await stage.stop()
    await receiver.stop(0)
  })
  it.after(() => cluster.close())

  const secret = (stringData: Record<string, string> = { url: `http://${receiver.address}/hook/${SECRET}`, secret: SECRET }) =>
    kube.apply(
      Secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'hook', namespace: stage.namespace },
        data: Object.fromEntries(Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
      },
      { manager: 'test' },
    )
  const told = () => got.map(({ body }) => JSON.parse(body.toString()))
  const results = () => told().map(({ revision, result }) => [revision, result])
  const failed = () =>
    eventually(async () => {
      const [message] = await stage.events('NotificationFailed')
      if (message) assert.not.match(message, new RegExp(SECRET))
      return message
    })

  it('tells each outcome of each commit once, signed, and a restart repeats nothing', async () => {
    await secret()
    await stage.deploy(HOOK)
    const one = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) })
    await stage.synced(one)
    await eventually(() => got.length === 1)
    const [first] = got
    const signature = createHmac('sha256', SECRET)
      .update(first?.body ?? '')
      .digest('hex')
    assert.is(first?.header('x-berth-signature-256'), `sha256=${signature}`)
    assert.is(first?.header('x-berth-event'), 'outcome')
    assert.match(first?.header('x-berth-delivery') ?? '', /^[0-9a-f]{32}$/)
    const [news] = told()
    assert.equal(
      [news.deployment, news.revision, news.path, news.result, news.reason],
      [`${stage.namespace}/shop`, one, 'deploy', 'succeeded', 'Synced'],
    )

    const bad = await stage.git.push({ 'deploy/a.yaml': 'a: [' })
    await stage.complains('RenderFailed')
    await eventually(() => got.length === 2)
    await stage.restart()
    await stage.complains('RenderFailed')
    const three = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '3' }) })
    await stage.synced(three)
    await eventually(() => got.length === 3)
    assert.equal(results(), [
      [one, 'succeeded'],
      [bad, 'failed'],
      [three, 'succeeded'],
    ])
    assert.match(told()[1].message, /deploy\/a\.yaml:1/)
  })

  it('is tried three times, and then an Event says so without the secret, or what a host in the own networks answered', async () => {
    answer = () => ({ status: 503, text: SECRET })
    await secret()
    await stage.deploy(HOOK)
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a') }))
    const message = await failed()
    assert.match(message, /spec\.notifications\[0\] \(Webhook\): 127\.0\.0\.1 did not take it\. Check the receiver/)
    assert.is(got.length, 3)
    assert.is(new Set(got.map((question) => question.header('x-berth-delivery'))).size, 1)
  })

  it('that a host in the own networks refuses or leads elsewhere fails in the same words, after as many tries', async () => {
    answer = () => ({ status: 307, headers: { location: `http://${receiver.address}/elsewhere` } })
    await secret()
    await stage.deploy(HOOK)
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a') }))
    const message = await failed()
    assert.match(message, /127\.0\.0\.1 did not take it\. Check the receiver/)
    assert.not.match(message, /307/)
    assert.is(got.length, 3)
    assert.ok(got.every(({ path }) => path === `/hook/${SECRET}`))
  })

  it('delays nobody while its receiver hangs', async () => {
    const late = Promise.withResolvers<ServedResponse>()
    answer = () => late.promise
    await secret()
    await stage.deploy(HOOK)
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) }))
    await eventually(() => got.length === 1)
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }) }), 'shop', { within: 9000 })
    late.resolve({ status: 200 })
  })

  it('needs a Secret that is there, with its keys', async () => {
    await stage.deploy(HOOK)
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) }))
    assert.match(await failed(), /there is no Secret hook in this namespace\. Create it/)
    await secret({ url: `http://${receiver.address}/` })
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }) }))
    await eventually(async () => (await stage.events('NotificationFailed')).some((message) => /has no key secret/.test(message)))
    assert.equal(got, [])
  })

  it('reads its Secret with the rights of the tenant, not with those of the operator', async () => {
    await secret()
    const { namespace } = stage
    await kube.delete(RoleBindings, { name: 'default-admin', namespace })
    await untilMay(kube, namespace, `system:serviceaccount:${namespace}:default`, { verb: 'get', resource: 'secrets' }, false)
    await stage.deploy(HOOK)
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    await stage.complains('SyncFailed')
    assert.match(await failed(), /the service account may not read Secret hook\. Give default the right/)
    assert.equal(got, [])
  })

  it('sets the status of the commit at the Git host', async () => {
    await secret({ url: `http://${receiver.address}/api/v1`, token: SECRET })
    await stage.deploy({ notifications: [{ kind: 'Gitea', secretRef: { name: 'hook' } }] })
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    await stage.synced(commit)
    await eventually(() => got.length === 1)
    const [question] = got
    assert.is(question?.path, `/api/v1/repos/team-a/shop/statuses/${commit}`)
    assert.is(question?.header('authorization'), `token ${SECRET}`)
    assert.is(told()[0].context, `berth/${stage.namespace}/shop`)
  })
})

describe('a notification where local targets are refused', (it) => {
  const cluster = testCluster()
  let stage: Stage
  it.beforeEach(async () => {
    stage = await openStage(cluster, { settings: { reach: { refuseLocal: true } } })
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  it('goes to no address of the own networks', async () => {
    const data = {
      url: Buffer.from('https://169.254.169.254/latest').toString('base64'),
      secret: Buffer.from('s').toString('base64'),
    }
    await cluster.kube.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'hook', namespace: stage.namespace },
      data,
    })
    await stage.deploy(HOOK)
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a') }))
    const message = await eventually(async () => (await stage.events('NotificationFailed'))[0])
    assert.match(message, /169\.254\.169\.254 leads to an address of this installation's own machines or networks/)
    assert.not.match(message, /latest/)
  })
})
