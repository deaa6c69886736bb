import { randomBytes } from 'node:crypto'
import * as assert from 'uvu/assert'
import {
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  labels,
  Namespaces,
  SANDBOX_PROVISIONER,
  Secrets,
  SpaceRequests,
  SpaceTiers,
} from '../../src/api/index.ts'
import { claimControllers } from '../support/claim-controllers.ts'
import { testCluster } from '../support/control-plane.ts'
import { deathsOf, dieAtEach, lifeOf, startMortalOperator } from '../support/mortal.ts'
import { describe } from '../support/suite.ts'
import { sweep } from '../support/sweep.ts'
import { claim, holderOf, targetClass } from '../support/targets.ts'
import { eventually, expectGone } from '../support/verbs.ts'

type Policy = 'Delete' | 'Retain'

/** Lives that are lived at the same time. */
const AT_ONCE = 8

describe('an operator that is killed after any of its writes', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const policies: readonly Policy[] = ['Delete', 'Retain']
  const tier = `sweep-${randomBytes(4).toString('hex')}`
  const classOf = (policy: Policy) => `${tier}-${policy.toLowerCase()}`

  it.before(async () => {
    await kube.apply(
      SpaceTiers,
      { apiVersion: 'berth.dev/v1alpha1', kind: 'SpaceTier', metadata: { name: tier }, spec: { quota: { pods: '10' } } },
      { manager: 'test' },
    )
    for (const policy of policies) {
      await kube.apply(
        DeploymentTargetClasses,
        targetClass(classOf(policy), { provisioner: SANDBOX_PROVISIONER, reclaimPolicy: policy, parameters: { tierName: tier } }),
        { manager: 'test' },
      )
    }
  })
  it.after(async () => {
    for (const policy of policies) await kube.delete(DeploymentTargetClasses, { name: classOf(policy) })
    await kube.delete(SpaceTiers, { name: tier })
    await cluster.close()
  })

  /** A claim's whole life under an operator that dies after `writes` writes and is then replaced; how many writes there were. */
  async function live(policy: Policy, writes: number): Promise<number> {
    const namespace = await cluster.namespace('sweep')
    const life = lifeOf(writes)
    const operator = await startMortalOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers: claimControllers }, life)

    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: classOf(policy) }))
    await expectOnePair(namespace)
    await kube.delete(DeploymentTargetClaims, { name: 'dev', namespace })
    await expectGone(kube, DeploymentTargetClaims, { name: 'dev', namespace }, { within: 60_000 })
    await expectEnd(policy, namespace)
    await operator.stop()
    await sweep(kube, namespace)
    return life.written
  }

  const spacesOf = (namespace: string) => kube.list(Namespaces, { labels: `${labels.spaceRequestNamespace}=${namespace}` })

  async function expectOnePair(namespace: string) {
    await eventually(
      async () => {
        const dev = await kube.get(DeploymentTargetClaims, { name: 'dev', namespace })
        const targets = await kube.list(DeploymentTargets, { namespace })
        assert.is(dev?.status?.phase, 'Bound', JSON.stringify(dev?.status))
        assert.equal(
          targets.map((object) => [object.status?.phase, holderOf(object)?.uid]),
          [['Bound', dev?.metadata.uid]],
        )
        assert.is(dev?.spec.targetName, targets[0]?.metadata.name)
        assert.is((await kube.list(SpaceRequests, { namespace })).length, 1, 'one request')
        assert.is((await spacesOf(namespace)).length, 1, 'one namespace')
        const secret = targets[0]?.spec.kubernetesCredentials.clusterCredentialsSecret ?? ''
        assert.ok(await kube.get(Secrets, { name: secret, namespace }), 'credentials')
        return true
      },
      { within: 60_000 },
    )
  }

  async function expectEnd(policy: Policy, namespace: string) {
    await eventually(
      async () => {
        const targets = await kube.list(DeploymentTargets, { namespace })
        const requests = await kube.list(SpaceRequests, { namespace })
        const spaces = (await spacesOf(namespace)).length
        if (policy === 'Delete') assert.equal([targets.length, requests.length, spaces], [0, 0, 0])
        else {
          assert.equal(
            targets.map((object) => [object.status?.phase, holderOf(object)]),
            [['Released', undefined]],
          )
          assert.equal([requests.length, spaces], [1, 1])
        }
        return true
      },
      { within: 60_000 },
    )
  }

  for (const policy of policies) {
    it(`leaves what one that lives on leaves, under ${policy}`, async () => {
      const whole = await live(policy, Number.POSITIVE_INFINITY)
      assert.ok(whole >= 15, `a whole life has ${whole} writes`)
      await dieAtEach(deathsOf(whole), AT_ONCE, (writes) => live(policy, writes))
    })
  }
})
