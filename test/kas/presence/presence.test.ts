import { equal, is, ok } from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import { Leases } from '../../../src/api/index.ts'
import { createPresence } from '../../../src/kas/presence/index.ts'
import { Failure, minutes, seconds, silentLog } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

describe('presence of kas', (it) => {
  const cluster = testCluster()
  const closing: (() => Promise<void>)[] = []
  it.afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })
  it.after(() => cluster.close())

  const leasesIn = (namespace: string) => cluster.kube.list(Leases, { namespace })
  const open = (namespace: string, identity: string, kube: Pick<Kube, 'apply' | 'list' | 'delete'> = cluster.kube) => {
    const clock = steppedClock()
    const presence = createPresence({ kube, clock, log: silentLog, namespace, identity })
    let news = 0
    presence.onChange(() => news++)
    closing.push(() => presence.stop())
    /** Time goes on as far as requests to the API server are answered. */
    const beat = async (times: number) => {
      for (let n = 0; n < times; n++) {
        const before = await eventually(async () => clock.waiting() > 0 && (await leaseOf(presence.self))?.spec?.renewTime)
        await clock.step(seconds(10))
        if (kube === cluster.kube) await eventually(async () => (await leaseOf(presence.self))?.spec?.renewTime !== before)
        await eventually(() => clock.waiting() > 0)
      }
    }
    const leaseOf = async (name: string) => (await leasesIn(namespace)).find(({ metadata }) => metadata.name === name)
    return { presence, clock, beat, news: () => news }
  }

  it('shows kas to each other, under names that no other start has', async () => {
    const namespace = await cluster.namespace('presence')
    const [one, two] = [open(namespace, 'kas-0'), open(namespace, 'Kas_0.example')]
    ok(/^berth-kas-0-[0-9a-f]{6}$/.test(one.presence.self))
    ok(/^berth-kas-0-example-[0-9a-f]{6}$/.test(two.presence.self))
    ok(one.presence.isAlive('whoever'), 'before the first look everybody may be there')
    await eventually(async () => (await leasesIn(namespace)).length === 2)
    await one.beat(1)
    equal(
      [one.presence.others, one.presence.isAlive(two.presence.self), one.presence.isAlive(one.presence.self)],
      [1, true, false],
    )
    is(one.presence.isAlive('whoever'), false)
  })

  it('takes a kas for dead that does not renew its Lease, by its own clock, and collects the Lease later', async () => {
    const namespace = await cluster.namespace('presence')
    const one = open(namespace, 'one')
    await eventually(async () => (await leasesIn(namespace)).length === 1 && one.clock.waiting() > 0)
    const spec = { holderIdentity: 'dead', renewTime: '2099-01-01T00:00:00.000000Z' }
    const metadata = {
      name: 'dead',
      namespace,
      labels: { 'app.kubernetes.io/name': 'berth-kas', 'app.kubernetes.io/component': 'presence' },
    }
    await cluster.kube.create(Leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec })
    await one.beat(1)
    ok(one.presence.isAlive('dead'))
    const before = one.news()
    await one.beat(3)
    ok(one.presence.isAlive('dead'))
    await one.beat(1)
    equal([one.presence.isAlive('dead'), one.presence.others, one.news()], [false, 0, before + 1])
    ok((await leasesIn(namespace)).length === 2)
    await one.clock.step(minutes(10))
    await eventually(async () => (await leasesIn(namespace)).length === 1)
  })

  it('believes that the others live while the API server is away, and is alone where it may not look', async () => {
    const namespace = await cluster.namespace('presence')
    const two = open(namespace, 'two')
    let trouble: Failure | undefined
    const list: Kube['list'] = (...asked) => (trouble ? Promise.reject(trouble) : cluster.kube.list(...asked))
    await eventually(async () => (await leasesIn(namespace)).length === 1)
    const one = open(namespace, 'one', { ...cluster.kube, list })
    await one.beat(1)
    ok(one.presence.isAlive(two.presence.self))
    trouble = new Failure('unavailable', 'away')
    await one.beat(10)
    ok(one.presence.isAlive(two.presence.self))
    trouble = new Failure('forbidden', 'not for you')
    await one.beat(1)
    is(one.presence.isAlive(two.presence.self), false)
  })
})
