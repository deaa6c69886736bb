import * as assert from 'uvu/assert'
import { freePort } from '../../src/adapters/control-plane/ports.ts'
import { ConfigMaps, type Kind, type KubeObject } from '../../src/api/index.ts'
import { Failure } from '../../src/std/index.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { ownControlPlane, testCluster } from '../support/control-plane.ts'
import { killServer } from '../support/servers.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectGone, expectObject } from '../support/verbs.ts'
import { type ForeignKas, foreignKas } from './foreign-kas.ts'
import { type RunningAgent, runAgent } from './running-agent.ts'

interface Lease extends KubeObject {
  spec?: { holderIdentity?: string; renewTime?: string }
}
const Leases: Kind<Lease> = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', namespaced: true }

describe('an agent on bad days', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let kas: ForeignKas
  let agents: RunningAgent[] = []
  let namespace = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('bad-days')
    kas = await foreignKas({ reports: true })
    agents = []
  })
  it.afterEach(async () => {
    await Promise.all(agents.map((agent) => agent.stop()))
    await kas.stop()
  })
  it.after(() => cluster.close())

  const lease = { duration: 3000, renewWithin: 2000, retry: 300 }
  const begin = async (given: Partial<Parameters<typeof runAgent>[0]> = {}) => {
    const agent = await runAgent({ kas: kas.address, kubeconfig, namespace, lease, ...given })
    agents.push(agent)
    return agent
  }
  const entry = (more: object = {}) => ({
    id: 'shop',
    defaultNamespace: namespace,
    prunePropagationPolicy: 'background',
    ...more,
  })
  const list = (...manifestProjects: object[]) => kas.configure({ gitops: { manifestProjects } })
  const there = (name: string, data: Record<string, string> = {}) =>
    expectObject(kube, ConfigMaps, { name, namespace }, (object) => assert.equal(object.data ?? {}, data))

  it('keeps and repairs what is in effect while kas is away, and goes on when it is back', async () => {
    // No port of the kernel's choice: whoever tries to reach it meanwhile may be given that very port.
    const listen = `127.0.0.1:${await freePort()}`
    await kas.stop()
    kas = await foreignKas({ reports: true, listen })
    list(entry())
    kas.push('shop', { 'a.yaml': configMap('one', { a: '1' }) })
    await begin()
    await there('one', { a: '1' })
    const { agentId } = kas
    await kas.stop()
    await kube.patch(ConfigMaps, { name: 'one', namespace }, { data: { a: 'drift' } })
    await there('one', { a: '1' })
    kas = await foreignKas({ listen, agentId })
    list(entry())
    kas.push('shop', { 'a.yaml': configMap('one', { a: '2' }) })
    await there('one', { a: '2' })
  })

  it('keeps the last good configuration when a newer one is refused, and tells why', async () => {
    list(entry())
    kas.push('shop', { 'a.yaml': configMap('one') })
    await begin()
    await there('one')
    const { agentId } = kas
    kas.configure({ gitops: { manifestProjects: [entry(), entry()] } })
    await eventually(() => kas.reports.at(-1)?.configurationError.includes('duplicate source id'))
    kas.configure({ agentId: agentId + 1n, gitops: {} })
    await eventually(() => kas.reports.at(-1)?.configurationError.includes('agent_id is'))
    kas.push('shop', { 'a.yaml': configMap('one'), 'b.yaml': configMap('two') })
    await there('two')
  })

  it('lets one pod lead, hands over when it ends, and leads again after the Lease was lost', async () => {
    list(entry())
    kas.push('shop', { 'a.yaml': configMap('one', { a: '1' }) })
    const first = await begin()
    await there('one', { a: '1' })
    const ref = { name: `agent-${kas.agentId}-lock`, namespace }
    assert.is((await kube.get(Leases, ref))?.spec?.holderIdentity, first.podName)
    // Somebody else takes it, and never renews it.
    await kube.patch(Leases, ref, { spec: { holderIdentity: 'somebody', renewTime: '2020-01-01T00:00:00.000000Z' } })
    await eventually(() => first.log().includes('no longer leading'))
    await expectObject(kube, Leases, ref, ({ spec }) => spec?.holderIdentity === first.podName)
    kas.push('shop', { 'a.yaml': configMap('one', { a: '2' }) })
    await there('one', { a: '2' })

    const second = await begin()
    await first.stop()
    agents = agents.filter((agent) => agent !== first)
    await expectObject(kube, Leases, ref, ({ spec }) => spec?.holderIdentity === second.podName)
    kas.push('shop', { 'a.yaml': configMap('one', { a: '3' }) })
    await there('one', { a: '3' })
  })

  it('lets the objects of a project stay that leaves the list, and says so', async () => {
    list(entry())
    kas.push('shop', { 'a.yaml': configMap('one') })
    await begin()
    await there('one')
    await eventually(() => kas.project('shop')?.objects === 1)
    list()
    const report = await eventually(() => (kas.project('shop')?.removed ? kas.project('shop') : undefined))
    assert.match(report.message, /1 objects stay/)
    assert.ok(await kube.get(ConfigMaps, { name: 'one', namespace }))
    await eventually(() => kas.open('shop') === 0)
    // It takes up where it was.
    kas.push('shop', { 'b.yaml': configMap('two') })
    list(entry())
    await there('two')
    await expectGone(kube, ConfigMaps, { name: 'one', namespace })
  })

  it('deletes them where the entry said so, also when it was away at that moment', async () => {
    list(entry({ deletion: 'delete' }))
    kas.push('shop', { 'a.yaml': configMap('one') })
    const first = await begin()
    await there('one')
    await eventually(() => kas.project('shop')?.objects === 1)
    await first.stop()
    agents = []
    list()
    await begin()
    await expectGone(kube, ConfigMaps, { name: 'one', namespace })
    await expectGone(kube, ConfigMaps, { name: `inventory-${kas.agentId}-1`, namespace })
    const report = await eventually(() =>
      kas.project('shop')?.message.includes('were deleted') ? kas.project('shop') : undefined,
    )
    assert.ok(report.removed)
  })

  it('gives a running apply up for a newer commit', async () => {
    list(entry())
    const waiting = { 'config.kubernetes.io/depends-on': `/namespaces/${namespace}/Pod/never` }
    const stuck = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'stuck', annotations: waiting } }
    kas.push('shop', { 'a.yaml': configMap('one', { a: '1' }), 'b.yaml': stuck })
    await begin()
    await there('one', { a: '1' })
    for (const a of ['2', '3', '4']) kas.push('shop', { 'a.yaml': configMap('one', { a }) })
    await there('one', { a: '4' })
    await eventually(() => kas.project('shop')?.reason === '' && kas.project('shop')?.objects === 1)
  })

  it('tells nobody its token, and keeps trying when it is refused, where it is to wait', async () => {
    kas.refuse('Bearer wrong')
    list(entry())
    kas.push('shop', { 'a.yaml': configMap('one') })
    const refused = await begin({ token: 'wrong', wait: true })
    await eventually(() => refused.log().includes('no configuration from kas'))
    const answer = await fetch(`http://${refused.operations}/readyz`)
    assert.is(answer.status, 503)
    assert.not(`${refused.log()} ${await answer.text()}`.includes('wrong'))
    kas.refuse('')
    await there('one')
    await eventually(async () => (await fetch(`http://${refused.operations}/readyz`)).status === 200)
  })

  it('ends when kas refuses its token at the start, and says so without it', async () => {
    kas.refuse('Bearer wrong')
    const refused = await runAgent({ kas: kas.address, kubeconfig, namespace, token: 'wrong' })
    const failure = await refused.ended.then(() => undefined, Failure.from)
    assert.is(failure?.code, 'unauthorized')
    assert.is(failure?.message, `kas refuses the token: ${kas.address.replace(/^.*\/\//, '')}: unknown token`)
    kas.refuse('')
  })

  it('goes on with its configuration when its token is refused later', async () => {
    const listen = `127.0.0.1:${await freePort()}`
    await kas.stop()
    kas = await foreignKas({ reports: true, listen })
    list(entry())
    kas.push('shop', { 'a.yaml': configMap('one') })
    const agent = await begin({ token: 'right' })
    await there('one')
    const { agentId } = kas
    await kas.stop()
    kas = await foreignKas({ listen, agentId })
    kas.refuse('Bearer right')
    list(entry())
    await eventually(() => agent.log().includes('unknown token'))
    kas.refuse('')
    kas.push('shop', { 'a.yaml': configMap('one'), 'b.yaml': configMap('two') })
    await there('two')
  })

  it('reports to a kas that comes back what it has reported before, though nothing has changed', async () => {
    const listen = `127.0.0.1:${await freePort()}`
    await kas.stop()
    kas = await foreignKas({ reports: true, listen })
    list(entry())
    kas.push('shop', { 'a.yaml': configMap('one') })
    await begin()
    await eventually(() => kas.project('shop')?.health === 'Healthy')
    const { agentId } = kas
    await kas.stop()
    kas = await foreignKas({ reports: true, listen, agentId })
    await eventually(() => kas.project('shop')?.health === 'Healthy')
  })

  it('changes its log level while it runs', async () => {
    kas.configure({ observability: { logging: { level: 3 } }, gitops: {} })
    const agent = await begin()
    await eventually(() => kas.reports.length > 0)
    const before = agent.log()
    kas.configure({ observability: { logging: { level: 1 } }, gitops: {} })
    await eventually(() => agent.log().length > before.length && agent.log().includes('configuration in effect'))
  })
})

describe('an agent whose API server goes away', (it) => {
  it('waits for it, and goes on', async () => {
    const plane = await ownControlPlane()
    const kas = await foreignKas()
    const namespace = 'default'
    kas.configure({ gitops: { manifestProjects: [{ id: 'shop', defaultNamespace: namespace }] } })
    kas.push('shop', { 'a.yaml': configMap('one') })
    const lease = { duration: 3000, renewWithin: 2000, retry: 300 }
    const agent = await runAgent({ kas: kas.address, kubeconfig: plane.kubeconfig, namespace, lease })
    try {
      await expectObject(plane.kube, ConfigMaps, { name: 'one', namespace }, () => true)
      await killServer(plane, 'kube-apiserver')
      kas.push('shop', { 'a.yaml': configMap('one'), 'b.yaml': configMap('two') })
      await eventually(() => agent.log().includes('no longer leading'))
      await plane.startServer('kube-apiserver')
      await expectObject(plane.kube, ConfigMaps, { name: 'two', namespace }, () => true, { within: 60_000 })
    } finally {
      await agent.stop()
      await kas.stop()
      await plane.remove()
    }
  })
})
