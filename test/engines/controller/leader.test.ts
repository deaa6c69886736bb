import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import { Leases } from '../../../src/api/index.ts'
import { leadInTurns } from '../../../src/engines/controller/index.ts'
import { lastsUntil } from '../../../src/engines/controller/leader.ts'
import { seconds, silentLog, systemClock } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

describe('leader election', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const ends: (() => Promise<void>)[] = []
  let namespace = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('leader')
  })
  it.afterEach(async () => {
    await Promise.all(ends.splice(0).map((end) => end()))
  })
  it.after(() => cluster.close())

  /** A candidate that tries often, with a Lease that a busy machine does not lose, and how often it began to lead. */
  const candidate = (identity: string, via: Kube = kube) => {
    const stop = new AbortController()
    const seen: { leading: boolean; terms: number; told: string[] } = { leading: false, terms: 0, told: [] }
    const meter = (name: string, isHeld: boolean) => void seen.told.push(`${name} ${isHeld}`)
    const lead = (term: AbortSignal): Promise<void> => {
      seen.leading = true
      seen.terms++
      return new Promise((resolve) => {
        const end = () => {
          seen.leading = false
          resolve()
        }
        term.addEventListener('abort', end, { once: true })
      })
    }
    const lease = { name: 'trial', namespace }
    const times = { duration: seconds(15), renewWithin: seconds(10), retry: 100 }
    const means = { kube: via, clock: systemClock, log: silentLog, lease, identity, meter, ...times }
    const done = leadInTurns(means, lead, stop.signal)
    const end = () => {
      stop.abort()
      return done
    }
    ends.push(end)
    return { seen, end }
  }
  const holder = async () => (await kube.get(Leases, { name: 'trial', namespace }))?.spec?.holderIdentity

  it('lets one lead at a time, and the next as soon as the first gives up', async () => {
    const one = candidate('one')
    await eventually(() => one.seen.leading)
    const two = candidate('two')
    await eventually(async () => (await holder()) === 'one')
    assert.is(two.seen.leading, false)
    await one.end()
    assert.is(one.seen.leading, false)
    await eventually(() => two.seen.leading)
    assert.is(await holder(), 'two')
    assert.equal(
      [one.seen.told, two.seen.told],
      [
        ['trial false', 'trial true', 'trial false'],
        ['trial false', 'trial true'],
      ],
    )
  })

  it('stops when somebody else has the Lease, and leads again when it is free', async () => {
    const one = candidate('one')
    await eventually(() => one.seen.leading)
    const thief = { holderIdentity: 'thief', leaseDurationSeconds: 1, renewTime: '2030-01-01T00:00:00.000000Z' }
    await eventually(async () => {
      await kube.patch(Leases, { name: 'trial', namespace }, { spec: thief })
      return !one.seen.leading
    })
    // More often when it wins the Lease back between two looks at it, and loses it to the next thief.
    await eventually(async () => one.seen.terms >= 2 && one.seen.leading && (await holder()) === 'one')
  })

  it('takes over from one that died without a word', async () => {
    const spec = { holderIdentity: 'dead', leaseDurationSeconds: 1, renewTime: '2030-01-01T00:00:00.000000Z' }
    const metadata = { name: 'trial', namespace }
    await kube.create(Leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec })
    const one = candidate('one')
    await eventually(() => one.seen.leading)
    assert.is((await kube.get(Leases, metadata))?.spec?.leaseTransitions, 1)
  })

  it('renews with one request, and looks first only when somebody else has written', async () => {
    const asked = { looks: 0, writes: 0 }
    const counted: Kube = {
      ...kube,
      get: (kind, ref, signal) => {
        asked.looks++
        return kube.get(kind, ref, signal)
      },
      patch: (kind, ref, patch, how) => {
        asked.writes++
        return kube.patch(kind, ref, patch, how)
      },
    }
    const one = candidate('one', counted)
    await eventually(() => asked.writes >= 3)
    assert.equal([one.seen.terms, asked.looks], [1, 1])
    await kube.patch(Leases, { name: 'trial', namespace }, { metadata: { labels: { seen: 'yes' } } })
    await eventually(() => asked.looks === 2)
    const before = asked.writes
    await eventually(() => asked.writes >= before + 2)
    assert.equal([one.seen.leading, one.seen.terms, asked.looks], [true, 1, 2])
  })

  it('is given up though a renewal comes between', async () => {
    let hasComeBetween = false
    const late: Kube = {
      ...kube,
      async patch(kind, ref, patch, how) {
        if (!hasComeBetween && 'spec' in patch && JSON.stringify(patch.spec).includes('"holderIdentity":""')) {
          hasComeBetween = true
          await kube.patch(Leases, { name: 'trial', namespace }, { metadata: { labels: { came: 'between' } } })
        }
        return kube.patch(kind, ref, patch, how)
      },
    }
    const one = candidate('one', late)
    await eventually(() => one.seen.leading)
    await one.end()
    assert.equal([hasComeBetween, await holder()], [true, ''])
  })

  it('is kept where each answer takes five seconds, and never longer than others wait', () => {
    const late = lastsUntil({}, { sent: 0, answered: seconds(5) })
    assert.ok(late > seconds(5) + seconds(2) + seconds(5), 'the next renewal, a pause later, is answered in time')
    assert.is(lastsUntil({}, { sent: 0, answered: 0 }), seconds(10))
    assert.is(lastsUntil({}, { sent: 0, answered: seconds(9) }), seconds(13))
  })
})
