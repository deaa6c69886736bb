import { match } from 'uvu/assert'
import { Leases } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'

const namespace = 'berth-system'
const OWN = { 'app.kubernetes.io/name': 'berth-kas', 'app.kubernetes.io/component': 'presence' }
const leaseOf = (name: string, labels: Record<string, string>) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace, labels },
})

describe('the rights of kas', (it) => {
  const cluster = testCluster()
  const kas = cluster.kube.as({ user: 'system:serviceaccount:berth-system:berth-kas' })
  it.before(async () => {
    await eventually(() => kas.list(Leases, { namespace }))
    await cluster.kube.apply(Leases, leaseOf('others', {}), { manager: 'test' })
  })
  it.after(async () => {
    await cluster.kube.delete(Leases, { name: 'others', namespace })
    await cluster.close()
  })

  it('let it keep a Lease of its own, and take it away', async () => {
    await kas.apply(Leases, leaseOf('kas-of-the-test', OWN), { manager: 'berth-kas', force: true })
    await kas.delete(Leases, { name: 'kas-of-the-test', namespace })
  })

  it('let it neither have nor delete the Lease of another program', async () => {
    const words = /of Leases kas writes those of kas only/
    match(await refusalOf(kas.create(Leases, leaseOf('mine', {}))), words)
    match(await refusalOf(kas.patch(Leases, { name: 'others', namespace }, { metadata: { labels: OWN } })), words)
    match(await refusalOf(kas.delete(Leases, { name: 'others', namespace })), words)
  })
})
