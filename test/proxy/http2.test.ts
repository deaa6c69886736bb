import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, type OutgoingHttpHeaders } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import { equal, is, match, ok } from 'uvu/assert'
import { Workspaces } from '../../src/api/index.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import type { Browser } from './browser.ts'
import { keysOfZone, tlsFlags } from './keys-of-zone.ts'
import { hostOf } from './running-proxy.ts'
import { type Stage, setStage } from './stage.ts'

const CHUNK = Buffer.alloc(64 * 1024, 'x')
const MUCH = 32 * 2 ** 20

interface Told {
  status: number
  headers: Record<string, unknown>
  body: string
  /** How the stream ended; 0 is well. */
  code: number
}

describe('a proxy that ends TLS itself, and browsers that speak HTTP/2', (it) => {
  let stage: Stage
  let ada: Browser
  let session: ClientHttp2Session
  let given = 0
  it.before(async () => {
    stage = await setStage(
      (request, response) => {
        const { url = '', headers, rawHeaders, method } = request
        if (url === '/') return void response.end(String(headers.host))
        if (url === '/pour') return pour()
        if (url === '/silent') return void response.writeHead(200).flushHeaders()
        if (url === '/refuse') return void response.writeHead(413, { connection: 'close' }).end('too much')
        if (url === '/twice')
          return void response.writeHead(200, ['Content-Type', 'text/a', 'Content-Type', 'text/b']).end('fine')
        if (url === '/break') {
          response.writeHead(200, { 'content-length': '100' })
          return void response.write('half', () => request.socket.destroy())
        }
        let bytes = 0
        request.on('data', (chunk: Buffer) => {
          bytes += chunk.length
        })
        request.on('end', () => {
          response.writeHead(200, { 'set-cookie': ['one=1', 'two=2'], 'keep-alive': 'timeout=5' })
          response.end(JSON.stringify({ method, url, headers, rawHeaders, bytes }))
        })
        function pour(): void {
          for (let goesOn = true; goesOn && given < MUCH; given += CHUNK.length) goesOn = response.write(CHUNK)
          if (given < MUCH) response.once('drain', pour)
          else response.end()
        }
      },
      async () => tlsFlags(await keysOfZone()),
    )
    await stage.workspace('web', { spec: { shares: [{ name: 'pair', user: 'bob@example.com', ports: ['app'] }] } })
    ada = await stage.signedIn('ada@example.com', 'web')
  })
  it.after(() => stage.close())
  it.beforeEach(async () => {
    session = connect(`https://${stage.proxy.addresses.listen}`, { rejectUnauthorized: false })
    session.on('error', () => undefined)
    await once(session, 'connect')
  })
  it.afterEach(() => session.destroy())

  const host = hostOf('web')
  const begin = (path: string, headers: OutgoingHttpHeaders = {}, how = {}): ClientHttp2Stream => {
    const stream = session.request({ ':path': path, ':authority': host, cookie: ada.cookies(host), ...headers }, how)
    stream.on('error', () => undefined)
    return stream
  }
  const answerTo = async (stream: ClientHttp2Stream): Promise<Told> => {
    const told: Told = { status: 0, headers: {}, body: '', code: 0 }
    stream.on('response', ({ ':status': status = 0, ...headers }) => Object.assign(told, { status, headers }))
    stream.setEncoding('utf8').on('data', (text: string) => {
      told.body += text
    })
    await endOf(stream)
    return { ...told, code: stream.rstCode ?? 0 }
  }
  const ask = (path: string, headers?: OutgoingHttpHeaders) => answerTo(begin(path, headers))
  /** Not by `once`, which an error before it would end. */
  const endOf = (what: ClientHttp2Session | ClientHttp2Stream) =>
    new Promise<void>((resolve) => what.once('close', () => resolve()))
  const wsHeaders = (origin = `https://${host}`) => ({
    ...{ ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'https' },
    ...{ origin, 'sec-websocket-version': '13' },
  })

  it('tells a workspace of a request what HTTP/1.1 would have told', async () => {
    const { status, headers, body } = await ask('/a?b=c', { 'x-mine': 'kept', cookie: ['theirs=1', ada.cookies(host), 'more=2'] })
    const told = JSON.parse(body)
    equal([status, told.method, told.url, told.headers.host, told.headers['x-mine']], [200, 'GET', '/a?b=c', host, 'kept'])
    is(told.headers.cookie, 'theirs=1; more=2')
    is(told.rawHeaders.filter((name: string) => /^(cookie|host)$/i.test(name)).length, 2)
    ok(!told.rawHeaders.some((name: string) => name.startsWith(':')), body)
    equal([headers['set-cookie'], headers['keep-alive'], headers.connection], [['one=1', 'two=2'], undefined, undefined])
  })

  it('passes bodies on, whether their length is told or not', async () => {
    const send = async (headers: OutgoingHttpHeaders) => {
      const stream = begin('/count', { ':method': 'POST', ...headers })
      const answer = answerTo(stream)
      for (let sent = 0; sent < 20; sent++) if (!stream.write(CHUNK)) await once(stream, 'drain')
      stream.end()
      return JSON.parse((await answer).body)
    }
    const untold = await send({})
    equal([untold.bytes, untold.headers['transfer-encoding']], [20 * CHUNK.length, 'chunked'])
    const told = await send({ 'content-length': 20 * CHUNK.length })
    equal([told.bytes, told.headers['transfer-encoding']], [20 * CHUNK.length, undefined])
    const none = await answerTo(begin('/count', { ':method': 'DELETE' }, { endStream: true }))
    equal([JSON.parse(none.body).bytes, JSON.parse(none.body).headers['transfer-encoding']], [0, undefined])
    const asked = await send({ expect: '100-continue' })
    is(asked.bytes, 20 * CHUNK.length)
  })

  it('answers an upload that nobody wants, without reading it', async () => {
    const stream = begin('/refuse', { ':method': 'POST' })
    const answer = answerTo(stream)
    stream.write(CHUNK)
    const { status, body } = await answer
    equal([status, body], [413, 'too much'])
    is((await ask('/')).status, 200)
  })

  it('lets nobody in without a session, and takes a request that names its host in two ways for none', async () => {
    is((await ask('/', { cookie: '', 'sec-fetch-dest': 'document', accept: 'text/html' })).status, 303)
    is((await ask('/', { cookie: '', accept: 'application/json' })).status, 401)
    is((await ask('/', { host: 'elsewhere.example.com' })).status, 400)
    is((await ask('/', { ':authority': 'nobody.example.com' })).status, 404)
    const long = await ask('/', { 'x-long': 'x'.repeat(40_000) })
    equal([long.status, long.code], [0, constants.NGHTTP2_ENHANCE_YOUR_CALM])
    is(
      await ask('/a', { 'x-forwarded-for': '6.6.6.6' }).then(({ body }) => JSON.parse(body).headers['x-forwarded-for']),
      '127.0.0.1',
    )
  })

  it('gives what is not whole no look of it, and goes on with others of the connection', async () => {
    const broken = await ask('/break')
    equal([broken.status, broken.body, broken.code], [200, 'half', constants.NGHTTP2_CANCEL])
    equal([(await ask('/twice')).status, (await ask('/')).status], [200, 200])
  })

  it('reads no more from a workspace than the browser takes, and stops when it leaves', async () => {
    given = 0
    const stream = begin('/pour')
    stream.pause()
    await once(stream, 'response')
    let before = -1
    await eventually(() => {
      const isStill = given === before
      before = given
      return isStill
    })
    ok(given < MUCH, `${given} bytes`)
    stream.resume()
    let bytes = 0
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    await once(stream, 'close')
    is(bytes, MUCH)
  })

  it('ends at the workspace what a visitor leaves who waits for more', async () => {
    await eventually(async () => (await stage.appConnections()) <= 1)
    const silent = begin('/silent')
    await once(silent, 'response')
    const open = await stage.appConnections()
    ok(open > 0)
    silent.close(constants.NGHTTP2_CANCEL)
    await eventually(async () => (await stage.appConnections()) < open)
  })

  it('joins a WebSocket on a stream, ends it with the right to it, and no other stream', async () => {
    const line = begin('/line', wsHeaders(), { endStream: false })
    const [{ ':status': status, ...headers }] = await once(line, 'response')
    equal([status, headers['sec-websocket-accept'], headers.upgrade], [200, undefined, undefined])
    // A frame of text, with a mask of zeros.
    line.write(Buffer.concat([Buffer.of(0x81, 0x85, 0, 0, 0, 0), Buffer.from('hello')]))
    const [echo]: Buffer[] = await once(line, 'data')
    is(echo?.subarray(2).toString(), 'hello')
    const silent = begin('/silent')
    await once(silent, 'response')

    const bob = await stage.signedIn('bob@example.com', 'web')
    const theirs = begin('/line', { ...wsHeaders(), cookie: bob.cookies(host) }, { endStream: false })
    equal((await once(theirs, 'response'))[0][':status'], 200)
    const ended = once(theirs, 'close')
    const { cluster, namespace } = stage
    await cluster.kube.patch(Workspaces, { name: 'web', namespace }, { spec: { shares: [] } })
    await ended
    ok(!line.closed && !silent.closed)
    line.close()
    silent.close()
  })

  it('opens no WebSocket to pages of elsewhere, and no tunnel', async () => {
    is((await answerTo(begin('/line', wsHeaders('https://evil.example.com'), { endStream: false }))).status, 403)
    is((await answerTo(begin('/line', { ...wsHeaders(), ':protocol': 'connect-udp' }, { endStream: false }))).status, 501)
    const tunnel = session.request({ ':method': 'CONNECT', ':authority': 'example.com:443' })
    is((await answerTo(tunnel)).status, 501)
    is((await ask('/')).status, 200)
  })

  it('still speaks HTTP/1.1 with who does, and has no tunnel for them either', async () => {
    const page = await ada.ask(`https://${host}/`)
    equal([page.status, page.body], [200, host])
    const [address, port] = stage.proxy.addresses.listen.split(':')
    const raw = connectTls({ host: address, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
    await once(raw, 'secureConnect')
    raw.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n')
    raw.resume()
    await once(raw, 'close')
  })

  it('hangs up on who opens and resets streams as fast as they can, and serves others', async () => {
    const closed = endOf(session)
    let refused = 0
    session.on('goaway', () => refused++)
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    for (let round = 0; round < 100 && !session.destroyed; round++) {
      const streams = Array.from({ length: 100 }, () => !session.closed && begin('/silent'))
      // What is closed before it has left never leaves.
      await turn()
      for (const stream of streams) if (stream) stream.close(constants.NGHTTP2_CANCEL)
      await turn()
    }
    await closed
    ok(refused > 0)
    match((await ada.ask(`https://${host}/`)).body, host)
  })

  it('has no more under way for one visitor, by however many connections it comes', async () => {
    await stage.workspace('busy', { spec: { owner: 'eve@example.com' } })
    const eve = await stage.signedIn('eve@example.com', 'busy')
    const sessions: ClientHttp2Session[] = []
    const statuses = new Map<number, number>()
    for (let at = 0; at < 8; at++) {
      const each = connect(`https://${stage.proxy.addresses.listen}`, { rejectUnauthorized: false })
      sessions.push(each)
      each.on('error', () => undefined)
      await once(each, 'remoteSettings')
      const busy = hostOf('busy')
      const headers = { ':path': '/silent', ':authority': busy, cookie: eve.cookies(busy) }
      const answers = Array.from({ length: 128 }, async () => {
        const [{ ':status': status }] = await once(each.request(headers), 'response')
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      })
      await Promise.all(answers)
    }
    equal(
      [...statuses],
      [
        [200, 1000],
        [429, 24],
      ],
    )
    // Others go on, and so does she, when some of it has ended.
    is((await ask('/')).status, 200)
    for (const each of sessions) each.destroy()
    await eventually(async () => (await eve.ask(`https://${hostOf('busy')}/`)).status === 200)
  })

  it('ends open streams when it stops', async () => {
    const silent = begin('/silent')
    await once(silent, 'response')
    const closed = endOf(session)
    await stage.proxy.stop()
    await closed
  })
})
