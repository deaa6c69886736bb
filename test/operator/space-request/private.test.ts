import * as assert from 'uvu/assert'
import {
  annotations,
  CREDENTIALS_NAMESPACE,
  conditionOf,
  kubeconfigIn,
  labels,
  RoleBindings,
  Secrets,
  SpaceRequests,
  SpaceTiers,
} from '../../../src/api/index.ts'
import { spaceRequests } from '../../../src/operator/space-request/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { spaceRequest, spaceTier } from '../../support/spaces.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { expectGone, expectObject } from '../../support/verbs.ts'

const CLAIM_UID = '5f8d2c1e-0000-4000-8000-000000000001'

describe('private space', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  let tier = ''
  it.beforeEach(async () => {
    namespace = await cluster.namespace('private')
    tier = `tier-${namespace.slice(-8)}`
    await kube.create(SpaceTiers, spaceTier(tier))
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [spaceRequests(context)],
    })
  })
  it.afterEach(async () => {
    await operator.stop()
    await sweep(kube, namespace)
    await kube.delete(SpaceTiers, { name: tier })
  })
  it.after(() => cluster.close())

  const ask = async (privateTo: string) => {
    const notes = { labels: { [labels.claimUid]: CLAIM_UID }, annotations: { [annotations.privateTo]: privateTo } }
    const ref = { name: 'quiet', namespace }
    await kube.create(SpaceRequests, spaceRequest(namespace, 'quiet', { tierName: tier }, notes))
    const { status } = await expectObject(
      kube,
      SpaceRequests,
      ref,
      (request) => conditionOf(request.status?.conditions, 'Ready')?.reason === 'Provisioned',
    )
    const [access] = status?.namespaceAccess ?? []
    const space = access?.name ?? ''
    return { ref, space, secret: { name: access?.secretRef ?? '', namespace: CREDENTIALS_NAMESPACE } }
  }
  const peopleIn = (space: string, wanted: string[]) =>
    expectObject(kube, RoleBindings, { name: 'namespace-manager-berth-space-admin', namespace: space }, ({ subjects = [] }) => {
      const people = subjects.filter(({ kind }) => kind === 'User').map(({ name }) => name)
      return people.join() === wanted.join()
    })

  it('has its credentials where only Berth reads them, for the claim that it was made for', async () => {
    const { space, secret } = await ask('ada')
    const held = await kube.get(Secrets, secret)
    assert.ok(held && kubeconfigIn(held))
    assert.is(held?.metadata.labels?.[labels.claimUid], CLAIM_UID)
    assert.is(held?.metadata.ownerReferences, undefined)
    for (const home of [namespace, space]) assert.equal(await kube.list(Secrets, { namespace: home }), [])
    await peopleIn(space, ['ada'])
  })

  it('takes its credentials along when it goes', async () => {
    const { ref, secret } = await ask('ada')
    await kube.delete(SpaceRequests, ref)
    await expectGone(kube, SpaceRequests, ref)
    assert.is(await kube.get(Secrets, secret), undefined)
  })

  it('gives its rights to whom the request names, and takes them back when it names another, or nobody', async () => {
    const { ref, space } = await ask('')
    await peopleIn(space, [])
    for (const person of ['ada', 'system:serviceaccount:team-a:robot', '']) {
      await kube.patch(SpaceRequests, ref, { metadata: { annotations: { [annotations.privateTo]: person } } })
      await peopleIn(space, person ? [person] : [])
    }
  })

  it('gets its credentials back under the same name when they are deleted, changed or lose their labels', async () => {
    const { secret } = await ask('ada')
    await kube.delete(Secrets, secret)
    const { data } = await expectObject(kube, Secrets, secret, (held) => kubeconfigIn(held) !== undefined)
    const evil = Buffer.from('evil').toString('base64')
    await kube.patch(Secrets, secret, { metadata: { labels: null }, data: { kubeconfig: evil } })
    const again = await expectObject(
      kube,
      Secrets,
      secret,
      ({ metadata, data: now }) => metadata.labels?.[labels.claimUid] === CLAIM_UID && now?.kubeconfig !== evil,
    )
    assert.is(again.data?.kubeconfig?.slice(0, 40), data?.kubeconfig?.slice(0, 40))
  })
})
