import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import { DeploymentTargetClaims, DeploymentTargets, isBindComplete, Secrets } from '../../../src/api/index.ts'
import { targetLifecycle } from '../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../src/operator/deployment-target-claim/binding/index.ts'
import { pause, systemClock } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { dice, runSeed } from '../../support/dice.ts'
import { startOperator } from '../../support/operator.ts'
import { rounds } from '../../support/sample.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { claim, credentialsSecret, holderOf, target } from '../../support/targets.ts'
import { eventually } from '../../support/verbs.ts'

/** Watch events arrive up to this much later than they could, milliseconds. */
const LAG = 150
const TARGETS = rounds({ sample: 10, whole: 50 })
const CLAIMS = 2 * TARGETS
const roll = dice(runSeed)

const lagging = (kube: Kube): Kube => ({
  ...kube,
  async stream(path, options) {
    const lines = await kube.stream(path, options)
    return (async function* () {
      for await (const line of lines) {
        if (roll(20) === 0) await pause(systemClock, roll(LAG))
        yield line
      }
    })()
  },
})

describe('binding under a race', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  it.after(() => cluster.close())

  it('binds exactly as many claims as there are targets, with two operators at once and caches that lag', async () => {
    const namespace = await cluster.namespace('race')
    await kube.create(Secrets, credentialsSecret(namespace))
    const open = () =>
      startOperator({
        kubeconfig: cluster.kubeconfig,
        namespace,
        via: lagging,
        controllers: (context) => [claimBinding(context), targetLifecycle(context)],
      })
    const operators = await Promise.all([open(), open()])
    await Promise.all([
      ...Array.from({ length: TARGETS }, (_, n) => kube.create(DeploymentTargets, target(namespace, `t${n}`))),
      ...Array.from({ length: CLAIMS }, (_, n) => kube.create(DeploymentTargetClaims, claim(namespace, `c${n}`))),
    ])

    await eventually(
      async () => {
        const claims = await kube.list(DeploymentTargetClaims, { namespace })
        const targets = await kube.list(DeploymentTargets, { namespace })
        const bound = claims.filter(({ status }) => status?.phase === 'Bound')
        assert.is(bound.length, TARGETS)
        assert.is(claims.filter(isBindComplete).length, TARGETS, 'no pair is left half bound')
        assert.is(claims.filter(({ status }) => status?.phase === 'Pending').length, CLAIMS - TARGETS)
        assert.is(new Set(bound.map(({ spec }) => spec.targetName)).size, TARGETS, 'no target has two claims')
        for (const one of bound) {
          const its = targets.find(({ metadata }) => metadata.name === one.spec.targetName)
          assert.equal(its && holderOf(its), { name: one.metadata.name, uid: one.metadata.uid })
          assert.is(its?.status?.phase, 'Bound')
        }
        return true
      },
      { within: 60_000 },
    )
    await Promise.all(operators.map((operator) => operator.stop()))
    await sweep(kube, namespace)
  })
})
