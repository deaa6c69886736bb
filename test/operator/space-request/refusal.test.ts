import * as assert from 'uvu/assert'
import { conditionOf, Secrets, type SpaceRequest, SpaceRequests, SpaceTiers, textIn } from '../../../src/api/index.ts'
import { spaceRequests } from '../../../src/operator/space-request/index.ts'
import { minutes, systemClock } from '../../../src/std/index.ts'
import { type SteppedClock, steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { spaceRequest, spaceTier } from '../../support/spaces.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

describe('a space request at fault', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let clock: SteppedClock
  let namespace = ''
  let tier = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('refusal')
    tier = `tier-${namespace.slice(-8)}`
    // Tokens carry the server's time, so this clock starts there and is stepped from then on.
    clock = steppedClock(systemClock.now())
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      clock,
      controllers: (context) => [spaceRequests(context)],
    })
  })
  it.afterEach(async () => {
    await operator.stop()
    await sweep(kube, namespace)
    await kube.delete(SpaceTiers, { name: tier })
  })
  it.after(() => cluster.close())

  const reason = (wanted: string): Promise<SpaceRequest> =>
    expectObject(kube, SpaceRequests, { name: 'dev', namespace }, ({ status }) =>
      assert.is(conditionOf(status?.conditions, 'Ready')?.reason, wanted),
    )
  const accessOf = ({ status }: SpaceRequest) => status?.namespaceAccess?.[0]
  const kubeconfig = async (name: string) => {
    const secret = await kube.get(Secrets, { name, namespace })
    return secret && textIn(secret, 'kubeconfig')
  }
  const warnings = async () => {
    const { items } = await kube.read<{ items: { reason: string; message: string }[] }>(`/api/v1/namespaces/${namespace}/events`)
    return items.filter((event) => event.reason === 'TierNotFound')
  }

  it('has its token renewed on time, without anybody touching it', async () => {
    await kube.create(SpaceTiers, spaceTier(tier, { tokenLifetime: '1h' }))
    await kube.create(SpaceRequests, spaceRequest(namespace, 'dev', { tierName: tier }))
    const { secretRef = '', expiresAt } = accessOf(await reason('Provisioned')) ?? {}
    const old = await kubeconfig(secretRef)
    await kube.delete(SpaceTiers, { name: tier })
    await reason('UnableToProvision')
    // The answer to that write is here, and so is the timer that comes after it.
    await operator.quiet()
    await clock.step(minutes(47))
    assert.is(await kubeconfig(secretRef), old)
    await clock.step(minutes(2))
    await eventually(async () => (await kubeconfig(secretRef)) !== old)
    const later = await expectObject(kube, SpaceRequests, { name: 'dev', namespace }, (request) =>
      assert.is.not(accessOf(request)?.expiresAt, expiresAt),
    )
    assert.is(conditionOf(later.status?.conditions, 'Ready')?.reason, 'UnableToProvision')
  })

  it('says so in one Event and in its status, and recovers when the tier comes', async () => {
    await kube.create(SpaceRequests, spaceRequest(namespace, 'dev', { tierName: tier }))
    await reason('UnableToProvision')
    await kube.patch(SpaceRequests, { name: 'dev', namespace }, { metadata: { annotations: { touched: 'yes' } } })
    await eventually(
      () => operator.caches.of(SpaceRequests).get({ name: 'dev', namespace })?.metadata.annotations?.touched === 'yes',
    )
    await operator.quiet()
    // It names the tiers of the cluster, and other tests make theirs: each text is told once.
    const texts = (await warnings()).map(({ message }) => message)
    assert.ok(texts.length > 0 && texts.length === new Set(texts).size, texts.join('\n'))
    for (const text of texts) assert.match(text, `there is no SpaceTier "${tier}". Name one of:`)
    await kube.create(SpaceTiers, spaceTier(tier))
    await reason('Provisioned')
  })
})
