import { equal, match } from 'uvu/assert'
import { conditionOf, finalizers, SpaceRequests, SpaceTiers } from '../../../src/api/index.ts'
import { spaceRequests } from '../../../src/operator/space-request/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { spaceRequest, spaceTier } from '../../support/spaces.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { eventually } from '../../support/verbs.ts'

describe('how many spaces a namespace gets', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  let tier = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('allowance')
    tier = `tier-${namespace.slice(-8)}`
    await kube.create(SpaceTiers, spaceTier(tier, { spacesPerNamespaceQuota: 2 }))
    await kube.create(SpaceTiers, spaceTier(`${tier}-wide`, { spacesPerNamespaceQuota: 3 }))
  })
  it.afterEach(async () => {
    await operator.stop()
    await sweep(kube, namespace)
    await kube.delete(SpaceTiers, { name: tier })
    await kube.delete(SpaceTiers, { name: `${tier}-wide` })
  })
  it.after(() => cluster.close())

  const start = async () => {
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [spaceRequests(context)],
    })
  }
  // With the finalizer, as claims' requests are made; who has a place it does not say.
  const ask = (name: string, tierName = tier) =>
    kube.create(SpaceRequests, spaceRequest(namespace, name, { tierName }, { finalizers: [finalizers.spaceRequest] }))
  const remove = (name: string) => kube.delete(SpaceRequests, { name, namespace })
  /** Each request with the reason and message of its condition. */
  const told = async () => {
    const items = await kube.list(SpaceRequests, { namespace })
    return items.map(({ metadata, status }) => ({ name: metadata.name, ...conditionOf(status?.conditions, 'Ready') }))
  }
  const provisioned = async () => (await told()).flatMap(({ name, reason }) => (reason === 'Provisioned' ? [name] : [])).sort()
  /** Until these have their spaces, and each of the others was refused one. */
  const expectSpaces = (...names: string[]) =>
    eventually(async () => {
      equal(await provisioned(), names)
      equal(
        (await told())
          .filter(({ reason }) => !['Provisioned', 'UnableToProvision'].includes(reason ?? ''))
          .map(({ name }) => name),
        [],
      )
      return true
    })

  it('is as many as the tier allows, however many are asked for at once', async () => {
    // Of one second, and the later the earlier by name.
    await Promise.all(['f', 'e', 'd', 'c', 'b', 'a'].map((name) => ask(name)))
    await start()
    await eventually(async () => (await provisioned()).length === 2)
    await operator.quiet()
    const all = await told()
    equal(all.filter(({ reason }) => reason === 'Provisioned').length, 2)
    for (const { message = '' } of all.filter(({ reason }) => reason === 'UnableToProvision'))
      match(message, `namespace ${namespace} has the 2 spaces that SpaceTier ${tier} allows it (spacesPerNamespaceQuota)`)
  })

  it('is given in the order in which they came, as soon as there is a place; who cannot use one holds nobody back', async () => {
    await start()
    for (const name of ['a', 'b']) {
      await ask(name)
      await eventually(async () => (await provisioned()).includes(name))
    }
    for (const name of ['d', 'faulty', 'gone', 'c']) {
      await ask(name)
      await eventually(async () => (await told()).some((each) => each.name === name && each.reason === 'UnableToProvision'))
    }
    await kube.patch(SpaceRequests, { name: 'faulty', namespace }, { spec: { tierName: 'there-is-none' } })
    await remove('gone')
    await eventually(async () => (await told()).some(({ message = '' }) => message.includes('there-is-none')))
    await remove('b')
    await expectSpaces('a', 'd')
    await remove('a')
    await expectSpaces('c', 'd')
  })

  it('counts the spaces of all tiers, and what is there stays whatever the quota becomes', async () => {
    await start()
    for (const name of ['a', 'b']) await ask(name, `${tier}-wide`)
    await expectSpaces('a', 'b')
    await ask('c')
    await expectSpaces('a', 'b')
    // A tier is changed freely, and gives no place to others.
    await kube.patch(SpaceRequests, { name: 'a', namespace }, { spec: { tierName: tier } })
    await ask('d', `${tier}-wide`)
    await ask('e', `${tier}-wide`)
    await eventually(async () => (await provisioned()).length === 3)
    await kube.patch(SpaceTiers, { name: tier }, { spec: { spacesPerNamespaceQuota: 0 } })
    await kube.patch(SpaceTiers, { name: `${tier}-wide` }, { spec: { spacesPerNamespaceQuota: 4 } })
    await expectSpaces('a', 'b', 'd', 'e')
    await kube.patch(SpaceTiers, { name: tier }, { spec: { spacesPerNamespaceQuota: -1 } })
    await expectSpaces('a', 'b', 'c', 'd', 'e')
  })

  it('is the same after a restart', async () => {
    await start()
    for (const name of ['a', 'b']) await ask(name)
    await expectSpaces('a', 'b')
    await operator.stop()
    await ask('c')
    await start()
    await expectSpaces('a', 'b')
    await remove('a')
    await expectSpaces('b', 'c')
  })
})
