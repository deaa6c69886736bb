import { equal, is, match, not } from 'uvu/assert'
import { createMetrics, type HttpServer, serveHttp, serveOperations } from '../../../src/adapters/http/index.ts'
import { silentLog, systemClock } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

describe('operations listener', (it) => {
  const metrics = createMetrics()
  let trouble: string | undefined
  let server: HttpServer

  it.before(async () => {
    const live = () => undefined
    server = await serveOperations({
      address: '127.0.0.1:0',
      live,
      ready: () => trouble,
      metrics,
      clock: systemClock,
      log: silentLog,
    })
  })
  it.after(() => server.stop())

  const get = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://${server.address}${path}`, { method })
    return [answer.status, await answer.text()] as const
  }

  it('says whether the program lives and is ready, and why not', async () => {
    equal(await get('/livez'), [200, 'ok\n'])
    trouble = 'waiting for GitProject'
    equal(await get('/readyz'), [503, 'waiting for GitProject\n'])
    equal(await get('/livez'), [200, 'ok\n'])
    match((await get('/metrics'))[1], /^berth_ready 0$/m)
    trouble = undefined
    equal(await get('/readyz'), [200, 'ok\n'])
    match((await get('/metrics'))[1], /^berth_ready 1$/m)
  })

  it('shows counters, gauges and histograms', async () => {
    metrics.counter({ name: 'things_total', help: 'Things', labels: ['kind'] }).add({ kind: 'good' }, 3)
    metrics.gauge({ name: 'depth', help: 'Depth', read: () => 7 })
    metrics.histogram({ name: 'wait_seconds', help: 'Wait' }).observe(0.2)
    let good = 2
    metrics.gauge({
      name: 'kept',
      help: 'Kept',
      labels: ['kind'],
      read: () => (good > 0 ? [{ labels: { kind: 'good' }, value: good }] : []),
    })
    match((await get('/metrics'))[1], 'kept{kind="good"} 2')
    good = 0
    not.match((await get('/metrics'))[1], 'kept{')
    const [, text] = await get('/metrics')
    match(text, 'things_total{kind="good"} 3')
    match(text, 'depth 7')
    match(text, 'wait_seconds_bucket{le="0.25"} 1')
  })

  it('answers nothing else', async () => {
    is((await get('/'))[0], 404)
    is((await get('/livez', 'POST'))[0], 405)
  })
})

describe('http server', (it) => {
  const served = (respond: Parameters<typeof serveHttp>[0]['respond']) =>
    serveHttp({ address: '127.0.0.1:0', respond, maxBytes: 10, clock: systemClock, log: silentLog })

  it('does not show what failed inside', async () => {
    const server = await served(() => {
      throw new TypeError('/etc/secret')
    })
    const answer = await fetch(`http://${server.address}/`)
    equal([answer.status, await answer.text()], [500, 'Internal error; the cause is in the log.\n'])
    await server.stop()
  })

  it('refuses bodies that are too large', async () => {
    const server = await served(({ body }) => ({ status: 200, text: String(body.length) }))
    const post = async (body: string) => (await fetch(`http://${server.address}/`, { method: 'POST', body })).status
    equal([await post('0123456789'), await post('0123456789a')], [200, 413])
    await server.stop()
  })

  it('cuts what does not end in time when it stops', async () => {
    const asked = Promise.withResolvers<void>()
    const server = await served(async () => {
      asked.resolve()
      return new Promise(() => undefined)
    })
    const answer = fetch(`http://${server.address}/`).then(
      () => 'answered',
      () => 'cut',
    )
    await asked.promise
    await server.stop(10)
    is(await answer, 'cut')
  })
})
