import { equal, is, ok } from 'uvu/assert'
import { request, type Tunnel } from '../../../src/engines/tunnel/index.ts'
import { isFailure, seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { bytes, ECHO, echo, type Stage, setStage, textsOf } from './tunnel-stage.ts'

const SMALL = { idle: 2, step: 3, most: 6, surplus: 0 }

describe('pools of tunnels', (it) => {
  const stages: Stage[] = []
  const staged = async (...of: Parameters<typeof setStage>) => {
    const stage = await setStage(...of)
    stages.push(stage)
    return stage
  }
  it.after(async () => {
    for (const stage of stages) await stage.close()
  })

  const taken = async ({ tunnels }: Stage, count: number): Promise<Tunnel[]> => {
    const all: Tunnel[] = []
    while (all.length < count) all.push(await eventually(() => tunnels.take(7n, ECHO)))
    return all
  }

  it('have two that wait, more while requests run, never more than the most, and shrink when they have served', async () => {
    const stage = await staged()
    stage.agent({ [ECHO]: echo }, SMALL)
    await eventually(() => stage.tunnels.count.idle === 2)
    is(stage.tunnels.count.open, 2)
    const calls = [await stage.ask(), await stage.ask()]
    await eventually(() => stage.tunnels.count.open === 5)
    while (calls.length < 6) calls.push(await stage.ask())
    await eventually(() => stage.tunnels.count.idle === 0)
    is(stage.tunnels.count.open, 6)
    for (const call of calls) {
      call.closeSend()
      await textsOf(call)
    }
    await eventually(() => stage.tunnels.count.idle === 2 && stage.tunnels.count.open === 2)
  })

  it('give a new tunnel to who has waited longest for what it answers', async () => {
    const stage = await staged()
    const never = new AbortController()
    const order: string[] = []
    const wait = (path: string, name: string) =>
      stage.tunnels.wait(7n, path, never.signal).then((tunnel) => {
        order.push(name)
        return tunnel
      })
    const other = wait('/x.Other/Other', 'other').catch(() => undefined)
    const first = wait(ECHO, 'first')
    const second = wait(ECHO, 'second')
    stage.agent({ [ECHO]: echo }, { ...SMALL, idle: 1, step: 1, most: 1 })
    const call = request(await first, ECHO)
    call.closeSend()
    await textsOf(call)
    stage.tunnels.putBack(await second)
    equal(order, ['first', 'second'])
    is(stage.tunnels.count.waiting, 1)
    await eventually(() => stage.tunnels.count.idle === 1)
    never.abort()
    await other
    is(stage.tunnels.count.waiting, 0)
  })

  it('let who waits no longer go', async () => {
    const { tunnels } = await staged()
    const leaving = new AbortController()
    const waiting = tunnels.wait(8n, ECHO, leaving.signal)
    leaving.abort()
    await waiting.then(
      () => ok(false),
      (thrown) => ok(isFailure(thrown, 'cancelled')),
    )
    equal(tunnels.count, { idle: 0, open: 0, waiting: 0 })
  })

  it('use a tunnel again that was put back', async () => {
    const stage = await staged()
    stage.agent({ [ECHO]: echo }, { ...SMALL, idle: 1, step: 1, most: 1 })
    const [tunnel] = await taken(stage, 1)
    ok(tunnel)
    is(stage.tunnels.take(7n, ECHO), undefined)
    stage.tunnels.putBack(tunnel)
    is(stage.tunnels.take(7n, ECHO), tunnel)
    const call = request(tunnel, ECHO)
    await call.send(bytes('still here'))
    call.closeSend()
    equal(await textsOf(call), ['still here'])
  })

  it('end what has waited for long, and the agent opens it again at once', async () => {
    const clock = steppedClock()
    const stage = await staged({ clock, age: seconds(60) })
    stage.agent({ [ECHO]: echo }, { ...SMALL, idle: 1, step: 1, most: 1 })
    const [busy] = await taken(stage, 1)
    ok(busy)
    await clock.step(seconds(61))
    const call = request(busy, ECHO)
    call.closeSend()
    equal(await textsOf(call), [])
    const old = await eventually(() => stage.tunnels.take(7n, ECHO))
    stage.tunnels.putBack(old)
    await clock.step(seconds(61))
    ok(!old.isIdle)
    await eventually(() => stage.tunnels.count.idle === 1)
  })
})
