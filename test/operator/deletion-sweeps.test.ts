import {
  annotations,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  type Kind,
  Namespaces,
  type Ref,
  Secrets,
} from '../../src/api/index.ts'
import { targetLifecycle } from '../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../src/operator/deployment-target-claim/binding/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../support/operator.ts'
import { sampleOf } from '../support/sample.ts'
import { describe } from '../support/suite.ts'
import { claim, credentialsSecret, target, targetClass } from '../support/targets.ts'
import { expectGone, expectObject } from '../support/verbs.ts'

type Part = 'claim' | 'target' | 'class' | 'secret'

const ORDERS: Part[][] = [
  ['claim', 'target', 'class'],
  ['claim', 'class', 'target'],
  ['target', 'claim', 'class'],
  ['target', 'class', 'claim'],
  ['class', 'claim', 'target'],
  ['class', 'target', 'claim'],
  ['secret', 'class', 'claim', 'target'],
]

describe('deletion in any order', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  let className = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('orders')
    className = `orders-${namespace.slice(-8)}`
    await kube.create(Secrets, credentialsSecret(namespace))
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [claimBinding(context), targetLifecycle(context)],
    })
  })
  it.afterEach(async () => {
    await operator.stop()
    await kube.delete(DeploymentTargetClasses, { name: className })
  })
  it.after(() => cluster.close())

  const places = (): Record<Part, [Kind, Ref]> => ({
    claim: [DeploymentTargetClaims, { name: 'dev', namespace }],
    target: [DeploymentTargets, { name: 'prod', namespace }],
    class: [DeploymentTargetClasses, { name: className }],
    secret: [Secrets, { name: 'credentials', namespace }],
  })

  async function pair(policy: 'Delete' | 'Retain', provisioned: boolean): Promise<void> {
    await kube.create(DeploymentTargetClasses, targetClass(className, { reclaimPolicy: policy }))
    const marks = provisioned ? { annotations: { [annotations.provisionedBy]: 'example.com/nobody' } } : {}
    await kube.create(DeploymentTargets, target(namespace, 'prod', { deploymentTargetClassName: className }, marks))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: className }))
    await expectObject(kube, DeploymentTargetClaims, { name: 'dev', namespace }, ({ status }) => status?.phase === 'Bound')
    await expectObject(kube, DeploymentTargets, { name: 'prod', namespace }, ({ status }) => status?.phase === 'Bound')
  }

  for (const policy of ['Delete', 'Retain'] as const) {
    for (const provisioned of [false, true]) {
      it(`ends, ${provisioned ? 'provisioned' : 'made by hand'}, ${policy}`, async () => {
        for (const order of sampleOf(ORDERS, 1)) {
          await pair(policy, provisioned)
          for (const part of order) await kube.delete(...places()[part])
          for (const part of order) await expectGone(kube, ...places()[part])
          if (order.includes('secret')) await kube.create(Secrets, credentialsSecret(namespace))
        }
      })
    }
  }

  it('ends when the whole namespace goes at once', async () => {
    await pair('Delete', true)
    await kube.create(DeploymentTargetClaims, claim(namespace, 'waiting', { deploymentTargetClassName: 'nobody-has-it' }))
    await kube.delete(Namespaces, { name: namespace })
    await expectGone(kube, Namespaces, { name: namespace }, { within: 60_000 })
  })
})
