import * as assert from 'uvu/assert'
import {
  type Condition,
  conditionOf,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargets,
  isTrue,
} from '../../../src/api/index.ts'
import { type BindingStage, openBinding } from '../../support/binding.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { claim, target } from '../../support/targets.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

describe('status of a claim', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: BindingStage
  let namespace = ''

  it.beforeEach(async () => {
    stage = await openBinding(cluster, 'status')
    namespace = stage.namespace
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const ref = (name: string) => ({ name, namespace })
  const dev = (check: (claim: DeploymentTargetClaim) => unknown) => expectObject(kube, DeploymentTargetClaims, ref('dev'), check)
  const resourcesOf = ({ status }: DeploymentTargetClaim): Condition | undefined =>
    conditionOf(status?.conditions, 'ResourcesSatisfied')
  const small = { requests: { memory: '1Gi' } }

  it('says in an Event, with the remedy, that the named target is not there', async () => {
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { targetName: 'prod' }))
    await dev(({ status }) => assert.is(conditionOf(status?.conditions, 'Ready')?.reason, 'TargetNotFound'))
    const event = await eventually(async () => {
      const { items } = await kube.read<{ items: { reason: string; message: string }[] }>(
        `/api/v1/namespaces/${namespace}/events`,
      )
      return items.find(({ reason }) => reason === 'TargetNotFound')
    })
    assert.match(event.message, 'DeploymentTarget "prod" to be created in this namespace. Create it, or')
    const waiting = await dev(() => true)
    assert.is(isTrue(waiting.status?.conditions, 'ErrorOccurred'), false)
  })

  it('does not say that resources suffice of a target that is lost', async () => {
    await kube.create(DeploymentTargets, target(namespace, 'prod', { resources: small }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { resources: small }))
    await dev((object) => assert.is(resourcesOf(object)?.status, 'True'))
    await expectObject(kube, DeploymentTargets, ref('prod'), ({ status }) => assert.is(status?.phase, 'Bound'))
    await kube.delete(DeploymentTargets, ref('prod'))
    const lost = await dev(({ status }) => assert.is(status?.phase, 'Lost'))
    assert.is(resourcesOf(lost)?.status, 'Unknown')
    assert.is(resourcesOf(lost)?.reason, 'NoTarget')
  })

  it('does not say it of requests that are gone', async () => {
    await kube.create(DeploymentTargets, target(namespace, 'prod', { resources: small }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev'))
    const bound = await dev(({ status }) => assert.is(status?.phase, 'Bound'))
    // As it was left by requests that an earlier version let go.
    const stale: Condition = {
      type: 'ResourcesSatisfied',
      status: 'False',
      reason: 'Expanding',
      message: 'waiting',
      lastTransitionTime: '2030-01-01T00:00:00Z',
    }
    const conditions = [...(bound.status?.conditions ?? []), stale]
    await kube.patch(DeploymentTargetClaims, ref('dev'), { status: { conditions } }, { subresource: 'status' })
    const told = await dev((object) => assert.is(resourcesOf(object)?.reason, 'NothingRequested'))
    assert.is(resourcesOf(told)?.status, 'True')
  })
})
