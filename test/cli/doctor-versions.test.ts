import * as assert from 'uvu/assert'
import { Agents, BERTH_NAMESPACE, Leases } from '../../src/api/index.ts'
import { install } from '../runner/cluster.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { type OwnControlPlane, ownControlPlane } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { berth, findingIn } from './berth.ts'

const agent = {
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Agent',
  metadata: { name: 'dev', namespace: 'default' },
  spec: { configurationProject: 'team/config' },
}

describe('doctor, of versions', (it) => {
  let cluster: OwnControlPlane
  const namespace = BERTH_NAMESPACE
  it.before(async () => {
    cluster = await ownControlPlane({ nodes: 0 })
    await install(await kubectl(), cluster.kubeconfig)
  })
  it.after(() => cluster?.remove())
  it.afterEach(async () => {
    for (const { metadata } of await cluster.kube.list(Leases, { namespace })) await cluster.kube.delete(Leases, metadata)
  })

  const lease = (name: string, version: string, labels: Record<string, string> = {}, renewed = Date.now()) =>
    cluster.kube.create(Leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace, labels: { ...labels, 'app.kubernetes.io/version': version } },
      spec: { holderIdentity: name, renewTime: new Date(renewed).toISOString().replace('Z', '000Z') },
    })
  const kasLease = (name: string, version: string, renewed?: number) =>
    lease(name, version, { 'app.kubernetes.io/name': 'berth-kas', 'app.kubernetes.io/component': 'presence' }, renewed)
  const finding = async () => {
    const { stdout } = await berth(['doctor', '--kubeconfig', cluster.kubeconfig, '-o', 'json', '--namespace', namespace])
    return findingIn(stdout, 'versions')
  }

  it('is content where all is of one', async () => {
    await lease('berth-operator', '0.1.0')
    assert.equal(await finding(), {
      check: 'versions',
      mark: 'ok',
      message: 'all that says its version is Berth 0.1.0, as this command is',
    })
  })

  it('says which are one minor version apart, as in an upgrade', async () => {
    await lease('berth-operator', '0.1.0')
    await kasLease('berth-kas-1', '0.2.0')
    const { mark, message, remedy = '' } = await finding()
    assert.equal([mark, message], ['warn', 'two versions: 0.1.0: the kinds, berth-operator, this command; 0.2.0: berth-kas-1'])
    assert.match(remedy, 'One minor version apart works')
  })

  it("names agents, and leaves out GitLab's, which count otherwise", async () => {
    await cluster.kube.create(Agents, agent)
    const connectedPods = ['v0.2.3', 'v0.2.3', 'v18.1.0'].map((version, n) => ({ podId: `${n}`, name: `pod-${n}`, version }))
    await cluster.kube.patch(Agents, agent.metadata, { status: { connectedPods } }, { subresource: 'status' })
    const { message } = await finding()
    assert.is(message, 'two versions: 0.1.0: the kinds, this command; 0.2.3: Agent default/dev')
    await cluster.kube.delete(Agents, agent.metadata)
  })

  it('fails where they are further apart, and does not count who is gone', async () => {
    await lease('berth-operator', '0.3.0')
    await kasLease('berth-kas-gone', '0.9.0', Date.parse('2026-01-01T12:00:00Z'))
    const { mark, message } = await finding()
    assert.equal([mark, message], ['fail', 'versions too far apart: 0.1.0: the kinds, this command; 0.3.0: berth-operator'])
  })
})
