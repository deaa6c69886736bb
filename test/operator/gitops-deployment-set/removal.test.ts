import { equal, is, match } from 'uvu/assert'
import { conditionOf, Environments, GitOpsDeploymentSets, GitOpsDeployments } from '../../../src/api/index.ts'
import { defined, Failure } from '../../../src/std/index.ts'
import { environment } from '../../support/builders/environments.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

import { envs, setStage } from './stage.ts'

describe('the removals of a GitOpsDeploymentSet, at work', (it) => {
  const stage = setStage(it)
  const { kube, ref, create, change, namesNow, there, deployment, said, report, eventOf, pathOf } = stage

  it('removes what has no element any more, unless that could be an accident', async () => {
    const many = Array.from({ length: 12 }, (_, index) => `e${index}`)
    await create({ generators: envs(...many) })
    await there(...many.map((env) => `shop-${env}`).sort())
    await change({ generators: envs(...many.slice(0, 5)) })
    await said('DeploymentsNotReady', ({ status }) => equal([status?.deployments?.total, status?.deployments?.leaving], [5, 7]))
    // Told at once, whatever else there is to say.
    await expectObject(kube, GitOpsDeploymentSets, ref('shop'), ({ status }) => {
      is(conditionOf(status?.conditions, 'RemovalHeld')?.status, 'True')
    })
    await eventOf('RemovalHeld')
    for (const name of many.slice(0, 5)) await report(`shop-${name}`, 'True')
    await said('RemovalHeld', (_, message) => match(message, '7 of 12 GitOpsDeployments would go within minutes'))
    is((await namesNow()).length, 12)
    await change({ removal: { maxPercent: 100 } })
    await there(...many.slice(0, 5).map((env) => `shop-${env}`))
    await said('Ready')
    await kube.create(Environments, environment(stage.namespace, 'only'))
    await change({ generators: [{ environments: { labelSelector: 'no=where' } }] })
    await said('RemovalHeld', (_, message) => match(message, 'would go. If that is meant, set spec.removal.allowEmpty'))
    await change({ removal: { allowEmpty: true } })
    await there()
    await said('Ready', ({ status }) => equal(status?.deployments, { total: 0, updated: 0, ready: 0 }))
  })

  it('leaves them to themselves where the policy is Orphan', async () => {
    await create({ removal: { policy: 'Orphan' } })
    await there('shop-dev', 'shop-prod')
    is((await deployment('shop-dev')).metadata.ownerReferences, undefined)
    await change({ generators: envs('prod') })
    await deployment('shop-dev', ({ metadata }) => metadata.labels?.['gitops.berth.dev/set'] === undefined)
    // From then on it is somebody's, and not in the way of the policy.
    await change({ removal: { policy: 'Delete' } })
    await deployment('shop-prod', ({ metadata }) => metadata.ownerReferences?.length === 1)
    await change({ removal: { policy: 'Orphan' } })
    await deployment('shop-prod', ({ metadata }) => (metadata.ownerReferences ?? []).length === 0)
    equal(await namesNow(), ['shop-dev', 'shop-prod'])
  })

  it('lets go at once, whatever a rollout waits for, and what an older set has left is nobody’s', async () => {
    const rollout = { steps: [{ labelSelector: 'env=dev' }] }
    await create({ rollout })
    await there('shop-dev')
    await report('shop-dev', 'True')
    await there('shop-dev', 'shop-prod')
    await change({ template: { spec: { source: { path: 'v2/${env}' } } }, removal: { policy: 'Orphan' } })
    for (const name of ['shop-dev', 'shop-prod'])
      await deployment(name, ({ metadata }) => (metadata.ownerReferences ?? []).length === 0)
    is(pathOf(await deployment('shop-prod')), 'prod')
    await kube.delete(GitOpsDeploymentSets, ref('shop'))
    await eventually(async () => !(await kube.get(GitOpsDeploymentSets, ref('shop'))))
    await create({ generators: envs('dev', 'test') })
    await there('shop-dev', 'shop-prod', 'shop-test')
    await said('DeploymentsNotReady', ({ status }) => equal(status?.deployments, { total: 2, updated: 2, ready: 0 }))
    equal(await namesNow(), ['shop-dev', 'shop-prod', 'shop-test'])
  })

  it('does not take a copy that somebody made for one of its own', async () => {
    await create({})
    await there('shop-dev', 'shop-prod')
    const { metadata, ...rest } = await deployment('shop-dev')
    const { labels, annotations } = metadata
    await kube.create(GitOpsDeployments, { ...rest, metadata: { ...ref('copy'), ...defined({ labels, annotations }) } })
    await change({ template: { spec: { interval: '7m' } } })
    await deployment('shop-prod', ({ spec }) => spec.interval === '7m')
    equal(await namesNow(), ['copy', 'shop-dev', 'shop-prod'])
    await said('DeploymentsNotReady', ({ status }) => is(status?.deployments?.leaving, undefined))
  })

  it('removes all of a template that is renamed only when that is meant', async () => {
    await create({})
    await there('shop-dev', 'shop-prod')
    await change({ template: { metadata: { name: 'web-${env}' } } })
    await there('shop-dev', 'shop-prod', 'web-dev', 'web-prod')
    await expectObject(kube, GitOpsDeploymentSets, ref('shop'), ({ status }) => {
      match(conditionOf(status?.conditions, 'RemovalHeld')?.message ?? '', 'all 2 GitOpsDeployments')
      equal(status?.removals?.total, 2)
    })
    await change({ removal: { allowEmpty: true } })
    await there('web-dev', 'web-prod')
  })
})

describe('a GitOpsDeployment that may not be removed', (it) => {
  const stage = setStage(it, {
    via: (kube) => ({
      ...kube,
      delete: (kind, ref, how) =>
        ref.name === 'shop-b' ? Promise.reject(new Failure('forbidden', 'a policy keeps it')) : kube.delete(kind, ref, how),
    }),
  })
  const { create, change, there, said } = stage

  it('is told, and keeps no other one from going, coming or changing', async () => {
    await create({ generators: envs('a', 'b', 'c') })
    await there('shop-a', 'shop-b', 'shop-c')
    await change({ generators: envs('a', 'd') })
    await there('shop-a', 'shop-b', 'shop-d')
    await said('DeploymentRefused', ({ status }, message) => {
      match(message, 'GitOpsDeployment shop-b: a policy keeps it')
      equal([status?.removals?.gone, status?.deployments?.updated], [1, 2])
    })
  })
})
