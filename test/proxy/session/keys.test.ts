import { randomBytes } from 'node:crypto'
import { equal, is } from 'uvu/assert'
import { createTickets } from '../../../src/adapters/auth/index.ts'
import { createCaches } from '../../../src/adapters/kube/index.ts'
import { Secrets } from '../../../src/api/index.ts'
import { createRotatingKeys, KEYS, type RotatingKeys } from '../../../src/proxy/session/index.ts'
import { hours, minutes, silentLog, systemClock } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const TICKET = { kind: 'session', audience: 'web.example.com' }

describe('the keys of tickets', (it) => {
  const cluster = testCluster()
  const open: (() => unknown)[] = []
  it.afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close()
  })
  it.after(() => cluster.close())

  /** Two proxies, which share a Secret. */
  const proxies = async () => {
    const namespace = await cluster.namespace('keys')
    const clock = steppedClock()
    const caches = createCaches({ kube: cluster.kube, clock: systemClock, log: silentLog, scope: namespace })
    open.push(() => caches.stop())
    const cache = caches.of(Secrets, { namespace, fields: `metadata.name=${KEYS}` })
    await caches.ready()
    const ring = async (): Promise<RotatingKeys> => {
      const made = createRotatingKeys(caches.kube, { cache, namespace, longest: hours(12) }, clock, silentLog)
      open.push(() => made.stop())
      await made.ready(new AbortController().signal)
      return made
    }
    const ref = { name: KEYS, namespace }
    const ids = async () => Object.keys((await cluster.kube.get(Secrets, ref))?.data ?? {}).sort()
    /** They look every five minutes, and what they find comes over the wire. */
    const until = (holds: () => Promise<boolean>) =>
      eventually(async () => {
        await clock.step(minutes(5))
        return holds()
      })
    return { here: await ring(), there: await ring(), clock, ref, ids, until }
  }
  const refusalOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'it counts',
      (thrown: Error) => thrown.message,
    )

  it('are used when all have heard of them, and kept until their last ticket is over', async () => {
    const { here, there, clock, ref, ids, until } = await proxies()
    const tickets = (keys: RotatingKeys) => createTickets({ keys, issuer: 'https://sign-in.example.com', clock })
    const give = (keys: RotatingKeys) => tickets(keys).sign(TICKET, { sub: 'ada' }, clock.now() + hours(12))
    const [first = ''] = await ids()
    equal([here.current().id, there.current().id, await ids()], [first, first, [first]])
    const early = await give(here)

    // As a third proxy would, just now.
    const second = `${clock.now() + minutes(2)}-00000000`
    await clock.step(minutes(2))
    await cluster.kube.patch(Secrets, ref, { data: { [second]: randomBytes(64).toString('base64') } })
    await eventually(() => here.byId(second) && there.byId(second))
    equal([here.current().id, there.current().id], [first, first])
    await clock.step(minutes(1))
    equal([here.current().id, there.current().id], [second, second])
    is((await tickets(there).verify(TICKET, early)).sub, 'ada')

    // A day later one of them makes another, and that of yesterday still has tickets that count.
    await clock.step(hours(24))
    const late = await give(here)
    await until(async () => (await ids()).some((id) => id > second))
    equal((await ids()).includes(first), true)
    await eventually(() => there.byId(second))
    is((await tickets(there).verify(TICKET, late)).sub, 'ada')
    await clock.step(hours(24))
    await until(async () => !(await ids()).includes(first))
    await eventually(() => !there.byId(first))
    is(await refusalOf(tickets(there).verify(TICKET, early)), 'the ticket does not count: its key is not known')
  })

  it('end every session when somebody deletes them', async () => {
    const { here, there, ref, ids, until } = await proxies()
    const [first = ''] = await ids()
    await cluster.kube.delete(Secrets, ref)
    await until(async () => {
      const [now] = await ids()
      return now !== undefined && now !== first && here.byId(now) !== undefined && there.byId(now) !== undefined
    })
    equal([here.byId(first), there.byId(first)], [undefined, undefined])
  })
})
