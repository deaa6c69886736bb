import { is, ok } from 'uvu/assert'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { ECHO, endOf, type Stage, setStage } from './tunnel-stage.ts'

const CHUNK = 32 * 1024
const MUCH = 64 * 2 ** 20

describe('back-pressure in tunnels', (it) => {
  let stage: Stage
  let made = 0
  let taken = 0
  let mayRead = Promise.withResolvers<void>()
  it.before(async () => {
    stage = await setStage()
    stage.agent({
      async *[ECHO](requests) {
        await mayRead.promise
        for await (const request of requests) taken += request.length
        yield* []
      },
      async *'/x.Source/Pour'() {
        for (made = 0; made < MUCH; made += CHUNK) yield new Uint8Array(CHUNK)
      },
    })
  })
  it.after(() => stage.close())

  /** Waits until this number stands still. */
  const atRest = async (read: () => number): Promise<number> => {
    let last = -1
    await eventually(() => {
      const now = read()
      const isSame = now === last && now > 0
      last = now
      return isSame
    })
    return last
  }

  it('keeps an agent from sending what nobody reads', async () => {
    const call = await stage.ask('/x.Source/Pour')
    const responses = call.responses[Symbol.asyncIterator]()
    await responses.next()
    const paused = await atRest(() => made)
    ok(paused < 8 * 2 ** 20, `${paused} bytes were made for a reader that pauses`)
    let got = CHUNK
    let most = 0
    for (let next = await responses.next(); !next.done; next = await responses.next()) {
      got += next.value.length
      most = Math.max(most, made - got)
    }
    is(got, MUCH)
    ok(most < 8 * 2 ** 20, `${most} bytes were under way`)
  })

  it('keeps a caller from sending what the agent does not read', async () => {
    mayRead = Promise.withResolvers()
    taken = 0
    const call = await stage.ask()
    let sent = 0
    const pouring = (async () => {
      for (; sent < MUCH; sent += CHUNK) await call.send(new Uint8Array(CHUNK))
      call.closeSend()
    })()
    const paused = await atRest(() => sent)
    ok(paused < 8 * 2 ** 20, `${paused} bytes were taken for a handler that pauses`)
    mayRead.resolve()
    await pouring
    is((await endOf(call)).code, 0)
    is(taken, MUCH)
  })

  it('does not keep a request from being cancelled whose agent does not read', async () => {
    mayRead = Promise.withResolvers()
    const leaving = new AbortController()
    const call = await stage.ask(ECHO, { signal: leaving.signal })
    let sent = 0
    const pouring = (async () => {
      for (; sent < MUCH; sent += CHUNK) await call.send(new Uint8Array(CHUNK))
    })()
    ok((await atRest(() => sent)) < MUCH)
    leaving.abort()
    is((await endOf(call)).code, 'cancelled')
    await pouring
    mayRead.resolve()
  })
})
