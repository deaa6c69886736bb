import { is, match } from 'uvu/assert'
import { annotations, conditionOf, Namespaces, RoleBindings, Secrets, SpaceRequests, SpaceTiers } from '../../../src/api/index.ts'
import { spaceRequests } from '../../../src/operator/space-request/index.ts'
import { allowUse, untilMay } from '../../support/builders/credentials.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { requestedBy, spaceRequest, spaceTier } from '../../support/spaces.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { expectObject } from '../../support/verbs.ts'

describe('whose leave a space needs', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  let tier = ''
  it.before(async () => {
    namespace = await cluster.namespace('leave')
    tier = `tier-${namespace.slice(-8)}`
    await kube.create(SpaceTiers, spaceTier(tier))
    await kube.create(SpaceTiers, spaceTier(`${tier}-b`))
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [spaceRequests(context)],
    })
  })
  it.after(async () => {
    await operator.stop()
    await sweep(kube, namespace)
    for (const name of [tier, `${tier}-b`]) await kube.delete(SpaceTiers, { name })
    await cluster.close()
  })

  /** As the provisioner makes one for a claim of theirs. */
  const ask = (name: string, requester: string) =>
    kube.create(SpaceRequests, requestedBy(requester, spaceRequest(namespace, name, { tierName: tier })))
  const told = (name: string, reason: string) =>
    expectObject(
      kube,
      SpaceRequests,
      { name, namespace },
      ({ status }) => conditionOf(status?.conditions, 'Ready')?.reason === reason,
    )
  const messageOf = async (name: string) =>
    conditionOf((await told(name, 'UnableToProvision')).status?.conditions, 'Ready')?.message

  it('is that of who asked, who is told what to do, and gets it when he is allowed', async () => {
    await ask('mallorys', 'mallory\nsystem:authenticated')
    const message = (await messageOf('mallorys')) ?? ''
    match(message, `mallory may not use SpaceTier "${tier}" in namespace ${namespace}`)
    match(message, 'ask a platform engineer for the verb use on spacetiers.berth.dev')
    is((await kube.list(Namespaces)).filter(({ metadata }) => metadata.name.startsWith(`${namespace}-`)).length, 0)
    await allowUse(kube, namespace, 'mallory', { group: 'berth.dev', resource: 'spacetiers', name: tier })
    await told('mallorys', 'Provisioned')
  })

  it('is not asked again for what is there, until it is to have another tier', async () => {
    await kube.delete(RoleBindings, { name: `use-spacetiers-${tier}`, namespace })
    const right = { verb: 'use', group: 'berth.dev', resource: 'spacetiers', name: tier }
    await untilMay(kube, namespace, 'mallory', right, false)
    const asked = async () => {
      await operator.quiet()
      return operator.requests.post ?? 0
    }
    const before = await asked()
    await kube.patch(SpaceTiers, { name: tier }, { spec: { labels: { 'team.example/colour': 'blue' } } })
    const { status } = await told('mallorys', 'Provisioned')
    const space = { name: status?.namespaceAccess?.[0]?.name ?? '' }
    await expectObject(kube, Namespaces, space, ({ metadata }) => metadata.labels?.['team.example/colour'] === 'blue')
    is(await asked(), before)
    // An administrator's change is his own wish; said for her again, it is hers, and refused.
    await kube.patch(SpaceRequests, { name: 'mallorys', namespace }, { spec: { tierName: `${tier}-b` } })
    await expectObject(
      kube,
      Namespaces,
      space,
      ({ metadata }) => metadata.labels?.['toolchain.dev.openshift.com/tier'] === `${tier}-b`,
    )
    const hers = { metadata: { annotations: { [annotations.requester]: 'mallory' } }, spec: { tierName: tier } }
    await kube.patch(SpaceRequests, { name: 'mallorys', namespace }, hers)
    const refused = await told('mallorys', 'UnableToProvision')
    const [access] = refused.status?.namespaceAccess ?? []
    is(access?.name, space.name)
    // What she has goes on working meanwhile, and its credentials with it.
    const secret = { name: access?.secretRef ?? '', namespace }
    const { uid } = (await expectObject(kube, Secrets, secret, () => true)).metadata
    await kube.delete(Secrets, secret)
    await expectObject(kube, Secrets, secret, ({ metadata }) => metadata.uid !== uid)
  })

  it('is everybody’s where nobody knows who asked, and that of a group for its members', async () => {
    await ask('nobodys', '\nsystem:authenticated')
    match((await messageOf('nobodys')) ?? '', 'nobody knows who asked for this, and not everybody may use SpaceTier')
    await ask('admins', 'grace\nsystem:masters')
    await told('admins', 'Provisioned')
    const plain = spaceRequest(namespace, 'plain', { tierName: 'appstudio-env' })
    await kube.create(SpaceRequests, requestedBy('\nsystem:authenticated', plain))
    await told('plain', 'Provisioned')
  })
})
