import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { equal, is, match, ok } from 'uvu/assert'
import { openTracer } from '../../../src/adapters/traces/index.ts'
import { createLog, silentLog } from '../../../src/std/index.ts'
import { listen } from '../../../src/std/listen.ts'
import { otlpReceiver } from '../../support/otlp-receiver.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const about = { service: 'berth-test', version: 'v1.2.3', log: silentLog }
const span = (name: string, began = 1000.25, ended = 1002.5) => ({ name, began, ended })

describe('traces by OTLP', (it) => {
  let receiver: Awaited<ReturnType<typeof otlpReceiver>>
  it.before(async () => {
    receiver = await otlpReceiver()
  })
  it.after(() => receiver.close())

  it('have an id that the commit says, and one root, whoever tells of it', async () => {
    const [kas, agent] = [await openTracer(receiver.endpoint, about), await openTracer(`${receiver.endpoint}/`, about)]
    kas.recordRoot(COMMIT, { ...span('push'), attributes: { 'vcs.ref.head.name': 'main', 'berth.bytes': 7 } })
    agent.record(COMMIT, { ...span('sync'), error: 'ApplyFailed', steps: [span('render'), span('apply')] })
    await Promise.all([kas.stop(), agent.stop()])
    equal(new Set(receiver.requests.map(({ path }) => path)), new Set(['/v1/traces']))
    const named = (name: string) => receiver.spans.find((each) => each.name === name)
    const [push, sync] = [named('push'), named('sync')]
    equal(push, {
      ...{ service: 'berth-test', trace: COMMIT.slice(0, 32), id: COMMIT.slice(24), parent: undefined, name: 'push' },
      ...{ began: 1000.25, ended: 1002.5, error: undefined },
      attributes: { 'vcs.ref.head.name': 'main', 'berth.bytes': 7 },
    })
    equal([sync?.trace, sync?.parent, sync?.error], [push?.trace, push?.id, 'ApplyFailed'])
    for (const step of ['render', 'apply']) equal([named(step)?.trace, named(step)?.parent], [sync?.trace, sync?.id])
    is(new Set(receiver.spans.map(({ id }) => id)).size, 4)
  })

  it('are not told of what is no commit', async () => {
    const before = receiver.spans.length
    const tracer = await openTracer(receiver.endpoint, about)
    tracer.record('../../etc', span('sync'))
    tracer.recordRoot('', span('push'))
    await tracer.stop()
    is(receiver.spans.length, before)
  })

  it('are told of the root of a commit once, and of no work that ends before it begins', async () => {
    const tracer = await openTracer(receiver.endpoint, about)
    const commit = 'c'.repeat(40)
    for (const name of ['push', 'another push']) tracer.recordRoot(commit, span(name))
    tracer.record(commit, span('set back', 2000, 1000))
    await tracer.stop()
    const received = receiver.spans.filter(({ trace }) => trace === commit.slice(0, 32))
    equal(
      received.map(({ name, began, ended }) => [name, ended - began]),
      [
        ['push', 2.25],
        ['set back', 0],
      ],
    )
  })

  it('are said not to be taken, once, and how many were lost when they are taken again', async () => {
    const lines: string[] = []
    const log = createLog('info', { write: (line) => lines.push(line) })
    const tracer = await openTracer(receiver.endpoint, { ...about, log })
    receiver.answer(400)
    for (const name of ['first', 'second']) {
      const before = receiver.requests.length
      tracer.record(COMMIT, span(name))
      await eventually(() => receiver.requests.length > before)
    }
    receiver.answer(200)
    tracer.record(COMMIT, span('third'))
    await eventually(() => lines.some((line) => line.includes('Traces are taken again')))
    await tracer.stop()
    is(lines.length, 2)
    match(lines[0] ?? '', `"endpoint":"${receiver.endpoint}"`)
    match(lines[1] ?? '', '"lost":2')
  })

  it('of which nobody takes any do not hold up the end of a program', async () => {
    const silent = createServer(() => undefined)
    const port = await listen(silent, '127.0.0.1', 0)
    const tracer = await openTracer(`http://127.0.0.1:${port}`, about)
    tracer.recordRoot(COMMIT, span('push'))
    const began = performance.now()
    await tracer.stop()
    // The library by itself waits ten seconds, and thirty for a connection.
    ok(performance.now() - began < 9000)
    silent.closeAllConnections()
    silent.close()
  })

  it('load their library only where they are wanted', async () => {
    const loaded = async (endpoint: string) => {
      const code = `const { openTracer } = await import('${import.meta.resolve('../../../src/adapters/traces/index.ts')}')
        const { silentLog } = await import('${import.meta.resolve('../../../src/std/index.ts')}')
        const tracer = await openTracer(${endpoint}, { service: 'x', version: undefined, log: silentLog })
        await tracer.stop()
        const { createRequire } = await import('node:module')
        console.log(Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('@opentelemetry')))`
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code])
      return stdout.trim()
    }
    equal([await loaded('undefined'), await loaded("'http://127.0.0.1:1'")], ['false', 'true'])
  })
})
