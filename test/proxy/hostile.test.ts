import { once } from 'node:events'
import { connect } from 'node:net'
import { equal, is, match, not, ok } from 'uvu/assert'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { hostOf } from './running-proxy.ts'
import { type Stage, setStage } from './stage.ts'

describe('the proxy in a hostile world', (it) => {
  let stage: Stage
  const seen: string[] = []
  it.before(async () => {
    stage = await setStage((request, response) => {
      seen.push(`${request.method} ${request.url}`)
      response.end('the app')
    })
    await stage.workspace('web')
  })
  it.after(() => stage.close())

  const host = hostOf('web')
  const home = `https://${host}/`

  /** Bytes as they are, and all that is answered until the proxy hangs up, politely or not. */
  const raw = async (bytes: string): Promise<string> => {
    const [name, port] = stage.proxy.addresses.listen.split(':')
    const socket = connect(Number(port), name)
    await once(socket, 'connect')
    let answer = ''
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text
    })
    // What it has not read is reset by the kernel when it hangs up.
    socket.on('error', () => undefined)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(bytes, 'latin1')
    await closed
    return answer
  }
  /** A request with that session, as bytes. */
  const bytesOf = (cookie: string, line: string, ...headers: string[]) =>
    [`${line} HTTP/1.1`, `Host: ${host}`, `Cookie: ${cookie}`, 'Connection: close', ...headers, '', ''].join('\r\n')

  it('refuses what two readers would read in two ways', async () => {
    const ada = await stage.signedIn('ada@example.com', 'web')
    const cookie = ada.cookies(host)
    match(await raw(bytesOf(cookie, 'GET /fine')), /^HTTP\/1\.1 200 /)
    seen.length = 0
    const chunked = 'Transfer-Encoding: chunked'
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
    const shapes: Record<string, string> = {
      'both lengths': `${bytesOf(cookie, 'POST /', 'Content-Length: 6', chunked)}0\r\n\r\n${smuggled}`,
      'both lengths, the other way round': `${bytesOf(cookie, 'POST /', chunked, 'Content-Length: 6')}0\r\n\r\n${smuggled}`,
      'two lengths': `${bytesOf(cookie, 'POST /', 'Content-Length: 3', 'Content-Length: 4')}abcd`,
      'a list of lengths': `${bytesOf(cookie, 'POST /', 'Content-Length: 3, 3')}abc`,
      'a length with a sign': `${bytesOf(cookie, 'POST /', 'Content-Length: +3')}abc`,
      'a negative length': `${bytesOf(cookie, 'POST /', 'Content-Length: -1')}abc`,
      'a length that is no number': `${bytesOf(cookie, 'POST /', 'Content-Length: 0x3')}abc`,
      'an encoding that is hidden': `${bytesOf(cookie, 'POST /', 'Transfer-Encoding: xchunked', 'Content-Length: 3')}abc`,
      'a space before the colon': bytesOf(cookie, 'GET /', 'Transfer-Encoding : chunked'),
      'a folded line': bytesOf(cookie, 'GET /', 'X-A: b\r\n c'),
      'a bare line feed': bytesOf(cookie, 'GET /', 'X-A: b\nTransfer-Encoding: chunked'),
      'a bare return': bytesOf(cookie, 'GET /', 'X-A: b\rX-B: c'),
      'a zero in a header': bytesOf(cookie, 'GET /', 'X-A: \u0000'),
      'a chunk of no size': `${bytesOf(cookie, 'POST /', chunked)}zz\r\nabc\r\n0\r\n\r\n`,
      'two hosts': bytesOf(cookie, 'GET /', 'Host: evil.example'),
      'no host': `GET / HTTP/1.1\r\nCookie: ${cookie}\r\n\r\n`,
      'a host with somebody in it': `GET / HTTP/1.1\r\nHost: a@${host}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`,
      'a whole URL': bytesOf(cookie, `GET http://${host}/`),
      'a URL of elsewhere': bytesOf(cookie, 'GET http://169.254.169.254/'),
      'a target without a slash': bytesOf(cookie, 'GET x'),
      'a star': bytesOf(cookie, 'OPTIONS *'),
      'a fragment': bytesOf(cookie, 'GET /a#/b'),
      'a backslash': bytesOf(cookie, 'GET /\\evil.example'),
      'a tab in the target': bytesOf(cookie, 'GET /a\tb'),
      'a letter that is no ASCII': bytesOf(cookie, 'GET /\u00e4'),
      'a tunnel': bytesOf(cookie, `CONNECT ${host}:443`),
      'an old version': `GET / HTTP/0.9\r\nHost: ${host}\r\nCookie: ${cookie}\r\n\r\n`,
      'a version of the future': `GET / HTTP/9.9\r\nHost: ${host}\r\nCookie: ${cookie}\r\n\r\n`,
      'a cookie twice': bytesOf(cookie, 'GET /', `Cookie: ${cookie}`),
      'too long a header': bytesOf(cookie, 'GET /', `X-A: ${'a'.repeat(40_000)}`),
    }
    for (const [why, bytes] of Object.entries(shapes)) not.match(await raw(bytes), /^HTTP\/1\.1 [23]/, why)
    equal(seen, [])
  })

  it('lets nobody in for what a header says', async () => {
    seen.length = 0
    const stranger = stage.browser()
    for (const headers of [
      ...[
        { 'x-forwarded-user': 'ada@example.com' },
        { x_forwarded_user: 'ada@example.com' },
        { 'x-remote-user': 'ada@example.com' },
      ],
      ...[{ 'user-agent': 'kube-probe/1.36' }, { 'x-forwarded-host': 'localhost' }, { 'x-original-url': '/.berth/arrive' }],
      ...[{ authorization: 'Bearer ada@example.com' }, { cookie: '__Host-berth-session=x' }, { forwarded: 'for=127.0.0.1' }],
      ...[{ 'x-forwarded-for': '127.0.0.1' }, { 'x-http-method-override': 'GET' }],
    ] as Record<string, string>[])
      ok([303, 401].includes((await stranger.ask(home, { headers })).status), JSON.stringify(headers))
    for (const path of [
      '.berth/arrive',
      '.berth/',
      '.berth/arrive?ticket=x',
      '.berth/..%2f',
      '?next=/.berth/arrive',
      'x?/.berth/sign-out',
      'metrics',
      'livez',
      'readyz',
      'callback',
    ])
      ok((await stranger.ask(`${home}${path}`)).status >= 300, path)
    equal(seen, [])
  })

  it('goes on after requests that are no requests', async () => {
    const ada = await stage.signedIn('ada@example.com', 'web')
    const whole = Buffer.from(
      bytesOf(ada.cookies(host), 'POST /', 'Transfer-Encoding: chunked', 'Expect: 100-continue'),
      'latin1',
    )
    let seed = 7
    const any = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return seed % below
    }
    const broken = (): Buffer => {
      const bytes = Buffer.concat([whole, Buffer.from('3\r\nabc\r\n0\r\n\r\n')])
      for (let n = 0; n < 1 + any(4); n++) bytes[any(bytes.length)] = any(256)
      return bytes.subarray(0, 1 + any(bytes.length))
    }
    const [name, port] = stage.proxy.addresses.listen.split(':')
    const send = async (bytes: Buffer) => {
      const socket = connect(Number(port), name)
      socket.on('error', () => undefined)
      const closed = new Promise((resolve) => socket.once('close', resolve))
      socket.end(bytes)
      socket.resume()
      await closed
    }
    for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 20 }, () => send(broken())))
    is((await ada.ask(home)).status, 200)
  })

  it('takes no session of another host, and none of another person’s making', async () => {
    await stage.workspace('other')
    const ada = await stage.signedIn('ada@example.com', 'web')
    const cookie = ada.cookies(host)
    is((await stage.browser().ask(`https://${hostOf('other')}/`, { headers: { cookie } })).status, 303)
    const name = '__Host-berth-session'
    const [head, body = '', signature] = (ada.jar(host).get(name) ?? '').split('.')
    const claims = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), exp: 4_000_000_000 }
    const longer = Buffer.from(JSON.stringify(claims)).toString('base64url')
    is((await stage.browser().ask(home, { headers: { cookie: `${name}=${head}.${longer}.${signature}` } })).status, 303)
  })

  it('lets nobody arrive with the ticket of another, nor twice with one', async () => {
    stage.provider.signInAs({ sub: 'eve', email: 'eve@example.com' })
    const [eve, victim] = [stage.browser(), stage.browser()]
    let answer = await eve.ask(home)
    while (!answer.headers.location?.includes('/.berth/arrive')) answer = await eve.ask(`${answer.headers.location}`)
    const link = answer.headers.location
    // Nobody who has not left this host, and nobody who has left it on his own, is signed in as her.
    is((await victim.ask(link)).status, 400)
    await victim.ask(home)
    is((await victim.ask(link)).status, 400)
    is(victim.jar(host).has('__Host-berth-session'), false)
    is((await eve.ask(link)).status, 303)
    is((await eve.ask(link)).status, 400)
  })

  it('finishes no sign-in that another browser has begun', async () => {
    const eve = stage.browser()
    const away = await eve.ask(`${(await eve.ask(home)).headers.location}`)
    const back = await eve.ask(`${away.headers.location}`)
    match(back.headers.location ?? '', /\/callback\?code=/)
    is((await stage.browser().ask(`${back.headers.location}`)).status, 400)
    const swapped = `${back.headers.location}`.replace(/code=[^&]+/, 'code=other')
    is((await eve.ask(swapped)).status, 403)
  })

  it('believes no ID token that is not for it', async () => {
    const forge: Record<string, (claims: Record<string, unknown>) => Record<string, unknown>> = {
      'for another client': (claims) => ({ ...claims, aud: 'other' }),
      'of another issuer': (claims) => ({ ...claims, iss: 'https://evil.example' }),
      'of another sign-in': (claims) => ({ ...claims, nonce: 'other' }),
      'that is over': (claims) => ({ ...claims, exp: Number(claims.iat) - 3600 }),
      'without a nonce': ({ nonce: _, ...claims }) => claims,
      'that names nobody': ({ email: _, ...claims }) => claims,
      'of an address that is not verified': (claims) => ({ ...claims, email_verified: false }),
    }
    for (const [why, how] of Object.entries(forge)) {
      stage.provider.forge = how
      const person = await stage.signedIn('ada@example.com', 'web')
      is(person.jar(host).has('__Host-berth-session'), false, why)
    }
    stage.provider.forge = undefined
    stage.provider.signsWrongly = true
    is((await stage.signedIn('ada@example.com', 'web')).jar(host).has('__Host-berth-session'), false, 'signed by another')
    stage.provider.signsWrongly = false
    ok((await stage.signedIn('ada@example.com', 'web')).jar(host).has('__Host-berth-session'))
  })

  it('upgrades for nobody without a session, nor for a page of another site', async () => {
    const ada = await stage.signedIn('ada@example.com', 'web')
    const upgrade = (cookie: string, origin: string) =>
      raw(
        [
          ...['GET / HTTP/1.1', `Host: ${host}`, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
          ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', `Cookie: ${cookie}`, `Origin: ${origin}`, '', ''],
        ].join('\r\n'),
      )
    const none = await upgrade('a=1', `https://${host}`)
    match(none, /^HTTP\/1\.1 401 /, JSON.stringify(none))
    match(await upgrade(ada.cookies(host), 'https://evil.example'), /^HTTP\/1\.1 403 /)
    match(await upgrade(ada.cookies(host), `https://${hostOf('other')}`), /^HTTP\/1\.1 403 /)
    await eventually(async () => (await stage.appConnections()) <= 1)
  })
})
