import * as assert from 'uvu/assert'
import { ConfigMaps, conditionOf, type DeploymentTargetClaim, DeploymentTargetClaims } from '../../../src/api/index.ts'
import { again, type Controller, type Next, settled } from '../../../src/engines/controller/index.ts'
import { Failure } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { claim } from '../../support/targets.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

describe('the controller loop', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  let operator: RunningOperator | undefined

  it.beforeEach(async () => {
    namespace = await cluster.namespace('loop')
  })
  it.afterEach(async () => {
    await operator?.stop()
    operator = undefined
  })
  it.after(() => cluster.close())

  const open = async (
    reconcile: (object: DeploymentTargetClaim, times: number) => Next | Promise<Next>,
    more: Partial<Controller<DeploymentTargetClaim>> = {},
  ) => {
    let times = 0
    const controller: Controller<DeploymentTargetClaim> = {
      name: 'trial',
      kind: DeploymentTargetClaims,
      reconcile: async (object) => reconcile(object, ++times),
      ...more,
    }
    operator = await startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers: () => [controller] })
    return { times: () => times, operator }
  }
  const create = (name = 'dev') => kube.create(DeploymentTargetClaims, claim(namespace, name))
  const ready = (status: 'True' | 'False', message: string) => ({
    phase: 'Pending',
    conditions: [{ type: 'Ready', status, reason: 'Trial', message }],
  })

  it('writes a status once, and nothing when it is the same again', async () => {
    let isTouched = false
    const trial = await open(({ metadata }) => {
      isTouched ||= metadata.labels?.touched === 'yes'
      return settled({ status: ready('False', 'hello') })
    })
    await create()
    await expectObject(
      kube,
      DeploymentTargetClaims,
      { name: 'dev', namespace },
      ({ status }) => conditionOf(status?.conditions, 'Ready')?.message === 'hello',
    )
    await kube.patch(DeploymentTargetClaims, { name: 'dev', namespace }, { metadata: { labels: { touched: 'yes' } } })
    await eventually(() => isTouched)
    await trial.operator.quiet()
    assert.is(trial.operator.requests.patch, 1)
  })

  it('moves lastTransitionTime with the status of a condition, not with its text', async () => {
    let text = 'one'
    await open(() => settled({ status: ready('False', text) }))
    await create()
    const message = (wanted: string) =>
      expectObject(
        kube,
        DeploymentTargetClaims,
        { name: 'dev', namespace },
        ({ status }) => conditionOf(status?.conditions, 'Ready')?.message === wanted,
      )
    const first = await message('one')
    text = 'two'
    await kube.patch(DeploymentTargetClaims, { name: 'dev', namespace }, { metadata: { labels: { touched: 'yes' } } })
    const second = await message('two')
    assert.is(
      conditionOf(second.status?.conditions, 'Ready')?.lastTransitionTime,
      conditionOf(first.status?.conditions, 'Ready')?.lastTransitionTime,
    )
  })

  it('comes back when the reconcile asks for it', async () => {
    const trial = await open((_, times) => (times < 4 ? again({ after: 10, why: 'not yet' }) : settled()))
    await create()
    await eventually(() => trial.times() === 4)
  })

  it("tries again after a failure and tells the user's mistakes at once", async () => {
    const trial = await open(
      (_, times) => {
        if (times === 1) throw new Failure('conflict', 'lost a race')
        throw new Failure('invalid', 'spec.targetName is wrong', { reason: 'Wrong', remedy: 'Name another one.' })
      },
      { failed: (_, failure) => ready('False', failure.message) },
    )
    await create()
    await expectObject(
      kube,
      DeploymentTargetClaims,
      { name: 'dev', namespace },
      ({ status }) => conditionOf(status?.conditions, 'Ready')?.message === 'spec.targetName is wrong',
    )
    assert.ok(trial.times() >= 2)
  })

  it('never works on one object twice at the same time, and does it again when it changed meanwhile', async () => {
    let inside = 0
    let most = 0
    const { promise, resolve } = Promise.withResolvers<void>()
    const seen: string[] = []
    await open(async (object) => {
      most = Math.max(most, ++inside)
      seen.push(object.metadata.labels?.n ?? '')
      if (seen.length === 1) await promise
      inside--
      return settled()
    })
    await create()
    await eventually(() => seen.length === 1)
    await kube.patch(DeploymentTargetClaims, { name: 'dev', namespace }, { metadata: { labels: { n: '1' } } })
    await kube.patch(DeploymentTargetClaims, { name: 'dev', namespace }, { metadata: { labels: { n: '2' } } })
    await eventually(
      () => operator?.caches.of(DeploymentTargetClaims).get({ name: 'dev', namespace })?.metadata.labels?.n === '2',
    )
    resolve()
    await eventually(() => seen.at(-1) === '2')
    assert.is(most, 1)
  })

  it('goes on with other objects while one fails', async () => {
    const good: string[] = []
    await open((object) => {
      if (object.metadata.name === 'bad') throw new Failure('internal', 'broken')
      good.push(object.metadata.name)
      return settled()
    })
    await create('bad')
    await create('good')
    await eventually(() => good.includes('good'))
  })

  it('is woken by other kinds, with the object before and after the change', async () => {
    const trial = await open(() => settled(), {
      watches: [
        { kind: ConfigMaps, wakes: ({ metadata }) => [{ name: metadata.labels?.for ?? '', namespace: metadata.namespace }] },
      ],
    })
    await create()
    await eventually(() => trial.times() === 1)
    await kube.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'x', namespace, labels: { for: 'dev' } },
    })
    await eventually(() => trial.times() === 2)
    await kube.delete(ConfigMaps, { name: 'x', namespace })
    await eventually(() => trial.times() === 3)
  })
})
