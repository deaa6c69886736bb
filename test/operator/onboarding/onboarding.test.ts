import { randomBytes } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import {
  annotations,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  DeploymentTargetClasses,
  Environments,
  labels,
  Namespaces,
} from '../../../src/api/index.ts'
import { chooseClass } from '../../../src/operator/onboarding/desired.ts'
import { onboarding } from '../../../src/operator/onboarding/index.ts'
import { Failure } from '../../../src/std/index.ts'
import { environment } from '../../support/builders/environments.ts'
import { testCluster } from '../../support/control-plane.ts'
import { onlyIn, type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { targetClass } from '../../support/targets.ts'
import { eventually, expectGone, expectObject } from '../../support/verbs.ts'

describe('onboarding', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const suffix = randomBytes(4).toString('hex')
  const className = `onboarding-${suffix}`
  let operator: RunningOperator
  let namespace = ''

  /** Namespaces of others are onboarded by others. */
  const own: string[] = []
  const fresh = async () => {
    const name = await cluster.namespace('onboarding')
    own.push(name)
    return name
  }
  const open = (via?: (kube: Kube) => Kube) =>
    startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [onlyIn(own, onboarding(context))],
      ...(via && { via }),
    })
  it.beforeEach(async () => {
    namespace = await fresh()
    operator = await open()
  })
  it.afterEach(() => operator.stop())
  it.after(() => cluster.close())

  const ref = (name: string) => ({ name, namespace })
  const ask = () =>
    kube.patch(
      Namespaces,
      { name: namespace },
      {
        metadata: { labels: { [labels.onboarding]: 'true' }, annotations: { [annotations.onboardingClass]: className } },
      },
    )
  const done = () =>
    expectObject(
      kube,
      Namespaces,
      { name: namespace },
      ({ metadata }) => metadata.annotations?.[annotations.onboarded] === 'development,staging',
    )

  it('a labelled namespace gets an Environment and a claim for development and staging', async () => {
    await ask()
    await done()
    for (const name of ['development', 'staging']) {
      const { spec } = await expectObject(kube, DeploymentTargetClaims, ref(name), () => true)
      assert.is(spec.deploymentTargetClassName, className)
      const made = await expectObject(kube, Environments, ref(name), () => true)
      assert.is(made.spec.configuration?.target?.deploymentTargetClaim.claimName, name)
      assert.is(made.metadata.ownerReferences, undefined)
    }
    const staging = await kube.get(Environments, ref('staging'))
    assert.is(staging?.spec.parentEnvironment, 'development')
  })

  it('a namespace that nobody labelled gets nothing', async () => {
    const other = namespace
    namespace = await fresh()
    await ask()
    await done()
    assert.equal(await kube.list(Environments, { namespace: other }), [])
    assert.equal(await kube.list(DeploymentTargetClaims, { namespace: other }), [])
  })

  it('what a team has made, changed or deleted is left so, over restarts too', async () => {
    await kube.create(Environments, environment(namespace, 'development', { displayName: 'Ours' }))
    await ask()
    await done()
    assert.is((await kube.get(Environments, ref('development')))?.spec.displayName, 'Ours')
    await kube.delete(Environments, ref('staging'))
    await kube.delete(DeploymentTargetClaims, ref('staging'))
    await expectGone(kube, DeploymentTargetClaims, ref('staging'))
    await operator.stop()
    operator = await open()
    await kube.patch(Namespaces, { name: namespace }, { metadata: { labels: { nudge: 'yes' } } })
    await eventually(
      () =>
        operator.caches.of(Namespaces, { labels: `${labels.onboarding}=true` }).get({ name: namespace })?.metadata.labels
          ?.nudge === 'yes',
    )
    assert.is(await kube.get(Environments, ref('staging')), undefined)
    assert.is(operator.requests.post, undefined)
  })

  it('an interruption anywhere is finished after the restart', async () => {
    for (const writes of [1, 2, 3, 4]) {
      namespace = await fresh()
      let left = writes
      const dying = (whole: Kube): Kube => ({
        ...whole,
        create: async (...given) => {
          if (given[0].kind !== 'Event' && left-- <= 0) throw new Failure('cancelled', 'killed')
          return whole.create(...given)
        },
        patch: async () => {
          throw new Failure('cancelled', 'killed')
        },
      })
      await operator.stop()
      const doomed = await open(dying)
      await ask()
      const made = await eventually(async () => {
        const both = [kube.list(DeploymentTargetClaims, { namespace }), kube.list(Environments, { namespace })]
        const found = (await Promise.all(both)).flat()
        return found.length >= writes && found
      })
      await doomed.stop()
      assert.is(made.length, writes)
      operator = await open()
      await done()
      assert.is((await kube.list(DeploymentTargetClaims, { namespace })).length, 2)
      assert.is((await kube.list(Environments, { namespace })).length, 2)
    }
  })

  it('waits for a class to be made, then goes on by itself', async () => {
    const several = [targetClass(`first-${suffix}`), targetClass(`second-${suffix}`)]
    for (const each of several) await kube.create(DeploymentTargetClasses, each)
    // Or it may still know of a single class and rightly take that.
    const known = operator.caches.of(DeploymentTargetClasses)
    await eventually(() => several.every(({ metadata }) => known.get({ name: metadata.name })))
    await kube.patch(Namespaces, { name: namespace }, { metadata: { labels: { [labels.onboarding]: 'true' } } })
    const warned = async () => {
      const events = await kube.read<{ items: { reason: string; involvedObject: { name: string } }[] }>(
        '/api/v1/namespaces/default/events',
      )
      return events.items.some((event) => event.reason === 'OnboardingClassUnknown' && event.involvedObject.name === namespace)
    }
    await eventually(warned)
    const chosen: DeploymentTargetClass = targetClass(`default-${suffix}`)
    chosen.metadata.annotations = { [annotations.defaultClass]: 'true' }
    await kube.create(DeploymentTargetClasses, chosen)
    await done()
    assert.is((await kube.get(DeploymentTargetClaims, ref('staging')))?.spec.deploymentTargetClassName, `default-${suffix}`)
    for (const each of [...several, chosen]) await kube.delete(DeploymentTargetClasses, { name: each.metadata.name })
  })

  it('chooses the class that is named, else the default, else the only one, and else says what to do', () => {
    const plain = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }
    const [a, b] = [targetClass('a'), targetClass('b')]
    const usual = { ...b, metadata: { name: 'b', annotations: { [annotations.defaultClass]: 'true' } } }
    const naming = { ...plain, metadata: { name: 'team', annotations: { [annotations.onboardingClass]: 'c' } } }
    assert.is(chooseClass(naming, [a, usual]), 'c')
    assert.is(chooseClass(plain, [a, usual]), 'b')
    assert.is(chooseClass(plain, [a]), 'a')
    assert.throws(() => chooseClass(plain, [b, a]), /several DeploymentTargetClasses could be meant: a, b/)
    assert.throws(() => chooseClass(plain, []), /there is no DeploymentTargetClass/)
  })
})
