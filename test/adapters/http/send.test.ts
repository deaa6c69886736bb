import type { LookupFunction } from 'node:net'
import * as assert from 'uvu/assert'
import { createSender, type HttpServer, type Letter, type ServedResponse, serveHttp } from '../../../src/adapters/http/index.ts'
import { Failure, silentLog, systemClock } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const letterTo = (url: string): Letter => ({ url: new URL(url), headers: { 'x-key': 'k' }, body: '{"a":"ä"}' })

/** What a promise fails with. */
const failureOf = async (work: Promise<unknown>): Promise<Failure> => {
  try {
    await work
  } catch (thrown) {
    return Failure.from(thrown)
  }
  throw new Failure('internal', 'it did not fail')
}

/** A name server that knows one answer. */
const resolving =
  (address: string): LookupFunction =>
  (_, options, answer) =>
    options.all ? answer(null, [{ address, family: 4 }]) : answer(null, address, 4)

describe('a letter to a host that a stranger chose', (it) => {
  const closing: HttpServer[] = []
  const got: string[] = []
  let answer: () => ServedResponse | Promise<ServedResponse> = () => ({ status: 204 })
  let address = ''

  it.beforeEach(async () => {
    got.length = 0
    answer = () => ({ status: 204 })
    const server = await serveHttp({
      address: '127.0.0.1:0',
      clock: systemClock,
      log: silentLog,
      respond({ method, path, body, header }) {
        got.push(`${method} ${path} ${header('x-key')} ${body}`)
        return answer()
      },
    })
    closing.push(server)
    address = `http://${server.address}`
  })
  it.afterEach(async () => {
    await Promise.all(closing.splice(0).map((server) => server.stop(0)))
  })

  it('arrives as it is, and the answer comes back', async () => {
    answer = () => ({ status: 201, text: 'thanks' })
    const receipt = await createSender({ allowLocal: true })(letterTo(`${address}/hook`))
    assert.equal(receipt, { status: 201, text: 'thanks', isOwn: true })
    assert.equal(got, ['POST /hook k {"a":"ä"}'])
  })

  it('follows no redirect', async () => {
    answer = () => ({ status: 302, headers: { location: `${address}/elsewhere` } })
    assert.is((await createSender({ allowLocal: true })(letterTo(`${address}/hook`))).status, 302)
    assert.is(got.length, 1)
  })

  it('takes no more of an answer than its beginning', async () => {
    answer = () => ({ status: 200, text: 'x'.repeat(5_000_000) })
    assert.is((await createSender({ allowLocal: true })(letterTo(address))).text.length, 16_384)
  })

  it('does not wait for ever', async () => {
    const late = Promise.withResolvers<ServedResponse>()
    answer = () => late.promise
    const failure = await failureOf(createSender({ allowLocal: true, timeout: 100 })(letterTo(address)))
    late.resolve({ status: 200 })
    assert.equal([failure.code, failure.message], ['unavailable', '127.0.0.1 did not take it'])
  })

  it('says how a host failed to answer of which nothing inside is known', async () => {
    const away: LookupFunction = (_hostname, _options, done) =>
      setImmediate(() => done(Object.assign(new Error('away'), { code: 'ENOTFOUND' }), '', 4))
    const failure = await failureOf(createSender({ allowLocal: false, lookup: away })(letterTo('https://hooks.example.com/')))
    assert.equal([failure.code, failure.message], ['unavailable', 'hooks.example.com did not answer (ENOTFOUND)'])
  })

  it('says that nobody is there, and nothing of the path', async () => {
    const [server] = closing
    await server?.stop(0)
    const failure = await failureOf(createSender({ allowLocal: true })(letterTo(`${address}/services/s3cret`)))
    assert.is(failure.code, 'unavailable')
    assert.is(failure.message, '127.0.0.1 did not take it')
  })

  it('goes to no address of the own networks, written out or behind a name, unless that is allowed', async () => {
    const { port } = new URL(address)
    const send = createSender({ allowLocal: false, lookup: resolving('127.0.0.1') })
    for (const url of [
      `https://127.0.0.1:${port}/`,
      `https://hooks.example.com:${port}/`,
      'https://[::1]/',
      'https://169.254.169.254/',
    ]) {
      const failure = await failureOf(send(letterTo(url)))
      assert.is(failure.code, 'invalid', url)
      assert.match(failure.message, /own machines or networks/)
    }
    assert.equal(got, [])
  })

  it('goes to no metadata service, whatever is allowed', async () => {
    for (const [at, url] of [
      ['127.0.0.1', 'http://169.254.169.254/latest'],
      ['127.0.0.1', 'http://[fd00:ec2::254]/'],
      ['127.0.0.1', 'https://[::ffff:a9fe:a9fe]/'],
      ['127.0.0.1', 'http://100.100.100.200/'],
      ['169.254.169.254', 'http://hooks.example.com/'],
    ] as const) {
      const failure = await failureOf(createSender({ allowLocal: true, lookup: resolving(at) })(letterTo(url)))
      assert.is(failure.code, 'invalid', url)
      assert.match(failure.message, /leads to a link-local, metadata or reserved address/)
      assert.not.match(failure.remedy ?? '', /allow/)
    }
  })

  it('tells what a host is: behind a name as well, its answers are those of the own networks', async () => {
    const { port } = new URL(address)
    const send = createSender({ allowLocal: true, lookup: resolving('127.0.0.1') })
    assert.is((await send(letterTo(`http://hooks.example.com:${port}/`))).isOwn, true)
    assert.is((await send(letterTo(address))).isOwn, true)
    const [server] = closing
    await server?.stop(0)
    const failure = await failureOf(send(letterTo(`http://hooks.example.com:${port}/`)))
    assert.equal([failure.code, failure.message], ['unavailable', 'hooks.example.com did not take it'])
  })

  it('is not sent in plain text, unless local hosts are allowed', async () => {
    const failure = await failureOf(createSender({ allowLocal: false })(letterTo('http://hooks.example.com/')))
    assert.equal([failure.code, failure.message], ['invalid', 'its URL begins with http://'])
    assert.is((await failureOf(createSender({ allowLocal: true })(letterTo('file:///etc/passwd')))).code, 'invalid')
  })
})
