import * as assert from 'uvu/assert'
import { acquireTools } from '../../src/adapters/control-plane/index.ts'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { DeploymentTargetClaims, DeploymentTargets, Namespaces, Secrets } from '../../src/api/index.ts'
import { targetLifecycle } from '../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../src/operator/deployment-target-claim/binding/index.ts'
import { install } from '../runner/cluster.ts'
import { type OwnControlPlane, ownControlPlane } from '../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../support/operator.ts'
import { freezeServer, killServer, resumeServer } from '../support/servers.ts'
import { describe } from '../support/suite.ts'
import { claim, credentialsSecret, target } from '../support/targets.ts'
import { eventually, expectGone, expectObject } from '../support/verbs.ts'

describe('an operator on bad days', (it) => {
  let plane: OwnControlPlane
  let kube: Kube
  let operator: RunningOperator
  const namespace = 'bad-days'

  it.before(async () => {
    plane = await ownControlPlane({ nodes: 0 })
    kube = plane.kube
    const { paths } = await acquireTools({ env: process.env, wanted: ['kubectl'] })
    await install(paths.kubectl ?? 'kubectl', plane.kubeconfig)
    await kube.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    await kube.create(Secrets, credentialsSecret(namespace))
    operator = await startOperator({
      kubeconfig: plane.kubeconfig,
      namespace,
      controllers: (context) => [claimBinding(context), targetLifecycle(context)],
    })
  })
  it.after(async () => {
    await operator?.stop()
    await plane?.remove()
  })

  const bound = (name: string) =>
    expectObject(kube, DeploymentTargetClaims, { name, namespace }, ({ status }) => status?.phase === 'Bound', { within: 60_000 })

  it('goes on after a restart of the API server, and hears of what was deleted before it was back', async () => {
    await kube.create(DeploymentTargets, target(namespace, 'one'))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'one'))
    await bound('one')
    await killServer(plane, 'kube-apiserver')
    await plane.startServer('kube-apiserver')
    await eventually(() => kube.delete(DeploymentTargetClaims, { name: 'one', namespace }), { within: 60_000 })
    await expectGone(kube, DeploymentTargetClaims, { name: 'one', namespace }, { within: 60_000 })
    await expectObject(kube, DeploymentTargets, { name: 'one', namespace }, ({ status }) => status?.phase === 'Released', {
      within: 60_000,
    })
  })

  it('goes on after an API server that neither answered nor hung up', async () => {
    await freezeServer(plane, 'kube-apiserver')
    const asked = kube.create(DeploymentTargets, target(namespace, 'two'))
    resumeServer(plane, 'kube-apiserver')
    await asked
    // An API server that has just started answers 503 until its policies have read the schemas of our kinds.
    await eventually(() => kube.create(DeploymentTargetClaims, claim(namespace, 'two')), { within: 60_000 })
    await bound('two')
  })

  it('goes on after etcd was away', async () => {
    await killServer(plane, 'etcd')
    await plane.startServer('etcd')
    // Applied, since one of which no answer came may have been made.
    const manager = 'test'
    await eventually(() => kube.apply(DeploymentTargets, target(namespace, 'three'), { manager }), { within: 60_000 })
    await eventually(() => kube.apply(DeploymentTargetClaims, claim(namespace, 'three'), { manager }), { within: 60_000 })
    await bound('three')
    assert.equal(operator.caches.waitingFor(), [])
  })
})
