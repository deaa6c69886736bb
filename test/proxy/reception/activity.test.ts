import { is, ok } from 'uvu/assert'
import { connect, createCaches } from '../../../src/adapters/kube/index.ts'
import { annotations, Services, Workspaces } from '../../../src/api/index.ts'
import { createActivity } from '../../../src/proxy/reception/activity.ts'
import { followRoutes } from '../../../src/proxy/routes.ts'
import { minutes, silentLog, systemClock } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { publish } from '../running-proxy.ts'

describe('the use of a workspace', (it) => {
  const cluster = testCluster()
  const leave: (() => Promise<void>)[] = []
  it.afterEach(async () => {
    for (const one of leave.splice(0).reverse()) await one()
  })
  it.after(() => cluster.close())

  it('is written once a minute at most, with how it was used, and that somebody looks', async () => {
    const namespace = await cluster.namespace('activity')
    let patches = 0
    const kube = connect({
      kubeconfig: cluster.kubeconfig,
      meter: ({ verb }) => {
        if (verb === 'patch') patches++
      },
    })
    leave.push(() => kube.close())
    const clock = steppedClock(systemClock.now())
    const caches = createCaches({ kube, clock: systemClock, log: silentLog, scope: namespace })
    leave.push(() => caches.stop())
    const workspaces = caches.of(Workspaces)
    const services = caches.of(Services)
    await caches.ready()
    const routes = followRoutes({ workspaces, services, log: silentLog })
    const made = await publish(cluster.kube, namespace, 'web', { idle: 30 })
    const uid = made.metadata.uid ?? ''
    const workspace = () => eventually(() => routes.workspace(uid))
    await eventually(() => routes.workspace(uid)?.isWatched)
    const activity = createActivity(caches.kube, routes, clock, silentLog)
    /** A round is over when the next one is set. */
    const pass = async () => {
      await eventually(() => clock.waiting() === 1)
      await clock.step(minutes(1))
    }
    const said = async () => (await cluster.kube.get(Workspaces, { name: 'web', namespace }))?.metadata.annotations ?? {}
    const becomes = (key: string, value: string) => eventually(async () => (await said())[key] === value)
    // A request counts when it is over: what it wrote is seen before.
    const counts = (n: number) => eventually(() => patches === n)

    for (let n = 0; n < 500; n++) activity.used(await workspace())
    await pass()
    await becomes(annotations.lastActivityBy, 'Requests')
    await counts(1)
    const first = (await said())[annotations.lastActivity]
    await eventually(() => routes.workspace(uid)?.lastActivity === Date.parse(`${first}`))

    // Pings of an editor are no use; what somebody types is.
    let received = 0
    const closed = Promise.withResolvers<void>()
    activity.lineOpened(
      { port: 3000, workspace: await workspace() },
      {
        received: () => received,
        closed: closed.promise,
      },
    )
    received = 1000
    await pass()
    received = 10_000
    await pass()
    await becomes(annotations.lastActivityBy, 'Connection')
    await counts(2)
    const second = Date.parse(`${(await said())[annotations.lastActivity]}`)
    ok(second > Date.parse(`${first}`))
    await eventually(() => routes.workspace(uid)?.lastActivity === second)

    // In a terminal it is a line.
    let typed = 0
    const ended = Promise.withResolvers<void>()
    const terminal = { host: 'terminal', port: 60_001, workspace: { ...(await workspace()), terminal: 60_001 } }
    activity.lineOpened(terminal, { received: () => typed, closed: ended.promise })
    typed = 12
    await pass()
    typed += 240
    await pass()
    await counts(3)
    const third = Date.parse(`${(await said())[annotations.lastActivity]}`)
    ok(third - second >= minutes(2))
    await eventually(() => routes.workspace(uid)?.lastActivity === third)
    ended.resolve()

    // Nobody uses it: then it is only told that somebody looks, and seldom.
    closed.resolve()
    for (let n = 0; n < 4; n++) await pass()
    await counts(4)
    activity.used(await workspace())
    await activity.stop()
    await becomes(annotations.lastActivityBy, 'Requests')
    await counts(5)
    is(clock.waiting(), 0)
  })
})
