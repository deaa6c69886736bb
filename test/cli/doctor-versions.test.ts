import * as assert from 'uvu/assert'
import { Leases } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { berth } from './berth.ts'

describe('doctor, of versions', (it) => {
  const cluster = testCluster()
  let namespace: string
  it.beforeEach(async () => {
    namespace = await cluster.namespace('doctor')
  })
  it.after(() => cluster.close())

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
    return JSON.parse(stdout).find(({ check }: { check: string }) => check === 'versions')
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
    const { mark, message, remedy } = await finding()
    assert.equal([mark, message], ['warn', 'two versions: 0.1.0: the kinds, berth-operator, this command; 0.2.0: berth-kas-1'])
    assert.match(remedy, 'One minor version apart works')
  })

  it('fails where they are further apart, and does not count who is gone', async () => {
    await lease('berth-operator', '0.3.0')
    await kasLease('berth-kas-gone', '0.9.0', Date.parse('2026-01-01T12:00:00Z'))
    const { mark, message } = await finding()
    assert.equal([mark, message], ['fail', 'versions too far apart: 0.1.0: the kinds, this command; 0.3.0: berth-operator'])
  })
})
