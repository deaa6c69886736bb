import * as assert from 'uvu/assert'
import { createTargets, keepTidy } from '../../../src/operator/gitops-deployment/targets.ts'
import { minutes } from '../../../src/std/index.ts'
import { deployer } from '../../support/builders/credentials.ts'
import { managedEnvironment, managedSecret } from '../../support/builders/environments.ts'
import { steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'

describe('the targets of deployments', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  it.after(() => cluster.close())

  it('are kept as long as somebody uses them, and closed then', async () => {
    const namespace = await cluster.namespace('targets')
    const { kubeconfig } = await deployer(kube, namespace, { role: 'view' })
    const clock = steppedClock()
    const environment = managedEnvironment(namespace, 'prod', { apiURL: kube.server, credentialsSecret: 'prod' })
    const secret = managedSecret(namespace, 'prod', kubeconfig)
    const used = new Set([`${namespace}/prod`, 'a'])
    const targets = createTargets(undefined)
    const ending = new AbortController()
    const tidying = keepTidy(targets, { clock, used: () => used }, ending.signal)
    const [far, near] = [targets.of(environment, secret), targets.as(kube, { user: 'a' })]
    await clock.step(minutes(5))
    assert.ok(targets.of(environment, secret) === far && targets.as(kube, { user: 'a' }) === near)
    used.clear()
    await clock.step(minutes(5))
    const closed = await far.read('/version').then(
      () => 'open',
      () => 'closed',
    )
    assert.is(closed, 'closed')
    assert.ok(targets.of(environment, secret) !== far && targets.as(kube, { user: 'a' }) !== near)
    ending.abort()
    await tidying
  })
})
