import * as assert from 'uvu/assert'
import {
  annotations,
  conditionOf,
  DeploymentTargetClaims,
  DeploymentTargets,
  reclaimPolicyOf,
} from '../../../../src/api/index.ts'
import { type BindingStage, openBinding } from '../../../support/binding.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { describe } from '../../../support/suite.ts'
import { claim, holderOf, target, targetClass } from '../../../support/targets.ts'
import { expectGone, expectObject } from '../../../support/verbs.ts'

describe('release of a target', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: BindingStage
  let namespace = ''

  it.beforeEach(async () => {
    stage = await openBinding(cluster, 'release')
    namespace = stage.namespace
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const ref = (name: string) => ({ name, namespace })
  const claimed = (name: string, phase: string) =>
    expectObject(kube, DeploymentTargetClaims, ref(name), ({ status }) => assert.is(status?.phase, phase))
  const releasedOf = async (metadata = {}) => {
    await kube.create(DeploymentTargets, target(namespace, 'prod', {}, metadata))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'first'))
    await claimed('first', 'Bound')
    await kube.delete(DeploymentTargetClaims, ref('first'))
    await expectGone(kube, DeploymentTargetClaims, ref('first'))
    return expectObject(kube, DeploymentTargets, ref('prod'), (object) => {
      assert.is(object.status?.phase, 'Released')
      assert.is(holderOf(object), undefined)
    })
  }

  it('is not undone by reserving the target for a name', async () => {
    await releasedOf()
    await kube.patch(DeploymentTargets, ref('prod'), { spec: { claimRef: { name: 'second' } } })
    await kube.create(DeploymentTargetClaims, claim(namespace, 'second', { targetName: 'prod' }))
    const second = await expectObject(kube, DeploymentTargetClaims, ref('second'), ({ status }) =>
      assert.is(conditionOf(status?.conditions, 'Ready')?.reason, 'TargetDoesNotMatch'),
    )
    assert.is(second.status?.phase, 'Pending')
    const prod = await expectObject(kube, DeploymentTargets, ref('prod'), ({ metadata, status }) =>
      assert.is(status?.observedGeneration, metadata.generation),
    )
    assert.is(prod.status?.phase, 'Released')
    assert.is(prod.status?.lastClaim?.name, 'first')

    await kube.patch(DeploymentTargets, ref('prod'), { metadata: { annotations: { [annotations.recycle]: 'true' } } })
    await claimed('second', 'Bound')
  })

  it('keeps a provisioned target of which nobody knows the policy', async () => {
    const prod = await releasedOf({ annotations: { [annotations.provisionedBy]: 'example.com/nobody' } })
    assert.is(prod.status?.reclaimPolicy, 'Retain')
    assert.is(prod.metadata.deletionTimestamp, undefined)
  })

  it('asks for the policy in one order: status, notes, class, and in doubt Retain', () => {
    const [note, ofClass] = [annotations.reclaimPolicy, targetClass('any', { reclaimPolicy: 'Delete' })]
    const noted = (policy: string) => target('any', 'any', {}, { annotations: { [note]: policy } })
    const bound = { ...noted('Delete'), status: { phase: 'Bound' as const, reclaimPolicy: 'Retain' as const } }
    assert.is(reclaimPolicyOf(bound, { ofClass }), 'Retain')
    assert.is(reclaimPolicyOf(noted('Retain'), { ofClass }), 'Retain')
    assert.is(reclaimPolicyOf(noted('perhaps'), { ofClass, madeFrom: [noted('Retain')] }), 'Retain')
    assert.is(reclaimPolicyOf(noted('perhaps'), { ofClass }), 'Delete')
    assert.is(reclaimPolicyOf(noted('perhaps'), { ofClass: undefined }), 'Retain')
  })
})
