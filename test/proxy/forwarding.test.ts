import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { equal, is, match, ok } from 'uvu/assert'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import type { Browser } from './browser.ts'
import { hostOf } from './running-proxy.ts'
import { type Stage, setStage } from './stage.ts'

const MUCH = 64 * 2 ** 20
const CHUNK = Buffer.alloc(64 * 1024, 'x')

describe('what the proxy passes on', (it) => {
  let stage: Stage
  let ada: Browser
  let taken = 0
  let given = 0
  it.before(async () => {
    stage = await setStage((request, response) => {
      const { url = '' } = request
      if (url === '/count') {
        taken = 0
        request.on('data', (chunk: Buffer) => {
          taken += chunk.length
        })
        return void request.on('end', () => response.end(String(taken)))
      }
      if (url === '/refuse') return void response.writeHead(413, { connection: 'close' }).end('too much')
      if (url === '/stall') return
      if (url === '/pour') return pour()
      if (url === '/events') return void response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      if (url === '/break') {
        response.writeHead(200, { 'content-length': '100' })
        return void response.write('half', () => request.socket.destroy())
      }
      if (url === '/gone') return void request.socket.destroy()
      response.writeHead(200, 'Quite Fine', { 'X-aPP-Case': 'kept', 'Clear-Site-Data': '"cookies"' }).end('fine')
      function pour(): void {
        for (let goesOn = true; goesOn && given < MUCH; given += CHUNK.length) goesOn = response.write(CHUNK)
        if (given < MUCH) response.once('drain', pour)
        else response.end()
      }
    })
    await stage.workspace('web', {})
    ada = await stage.signedIn('ada@example.com', 'web')
  })
  it.after(() => stage.close())

  const host = hostOf('web')
  /** A request that is still to be ended. */
  const begin = (path: string, method = 'GET', headers: Record<string, string> = {}) => {
    const [name, port] = stage.proxy.addresses.listen.split(':')
    const request = httpRequest({
      host: name,
      port,
      path,
      method,
      headers: { host, cookie: ada.cookies(host), ...headers },
      agent: false,
    })
    request.on('error', () => undefined)
    return request
  }
  const answerTo = async (request: ReturnType<typeof begin>): Promise<IncomingMessage> => {
    const [answer]: IncomingMessage[] = await once(request, 'response')
    if (!answer) throw new TypeError('no answer')
    return answer
  }

  it('is the answer as it was, without what reaches too far', async () => {
    const answer = await answerTo(begin('/').end())
    equal([answer.statusCode, answer.statusMessage, await text(answer)], [200, 'Quite Fine', 'fine'])
    ok(answer.rawHeaders.includes('X-aPP-Case'))
    is(answer.headers['clear-site-data'], undefined)
  })

  it('is an upload of any size, at the pace of who reads it', async () => {
    const request = begin('/count', 'POST')
    for (let sent = 0; sent < MUCH; sent += CHUNK.length) if (!request.write(CHUNK)) await once(request, 'drain')
    is(await text(await answerTo(request.end())), String(MUCH))
  })

  it('is no more of an answer than is read', async () => {
    const answer = await answerTo(begin('/pour').end())
    answer.pause()
    let before = -1
    await eventually(() => {
      const isSame = given > 0 && given === before
      before = given
      return isSame
    })
    ok(given < MUCH / 4, `${given} bytes were made for a reader who reads nothing`)
    answer.destroy()
  })

  it('is the beginning of a stream of events before the first event', async () => {
    const answer = await answerTo(begin('/events').end())
    is(answer.headers['content-type'], 'text/event-stream')
    answer.destroy()
  })

  it('is an answer that comes before the end of the upload', async () => {
    const request = begin('/refuse', 'POST')
    request.write(CHUNK)
    const answer = await answerTo(request)
    equal([answer.statusCode, await text(answer)], [413, 'too much'])
    request.destroy()
  })

  it('is not whole when the answer was not', async () => {
    // The end may be heard of before the beginning was.
    const whole = answerTo(begin('/break').end()).then(text)
    ok(
      await whole.then(
        () => false,
        () => true,
      ),
    )
  })

  it('is a page when there is no answer', async () => {
    const gone = await ada.ask(`https://${host}/gone`)
    is(gone.status, 502)
    match(gone.body, /closed without an answer/)
  })

  it('leaves nothing behind when visitors hang up', async () => {
    const leaving = Array.from({ length: 50 }, () => begin('/stall').end())
    await eventually(async () => (await stage.appConnections()) >= 50)
    for (const request of leaving) request.destroy()
    await eventually(async () => (await stage.appConnections()) < 10)
  })
})
