import { once } from 'node:events'
import { connect } from 'node:net'
import { equal, is, match } from 'uvu/assert'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import type { Browser } from './browser.ts'
import { hostOf, SIGN_IN } from './running-proxy.ts'
import { type Stage, setStage } from './stage.ts'

describe('a provider that ends sessions', (it) => {
  let stage: Stage
  it.before(async () => {
    stage = await setStage(({ url }, response) => {
      if (url === '/events') return void response.writeHead(200).flushHeaders()
      response.end('the app')
    })
    await stage.workspace('web', {
      spec: { shares: [{ name: 'all', group: 'staff', ports: ['app'] }] },
    })
  })
  it.after(() => stage.close())

  const page = `https://${hostOf('web')}/`
  const signIn = (name: string, sid: string) =>
    stage.signedIn(`${name}@example.com`, 'web', { sub: `${name}-1`, sid, groups: ['staff'] })
  const statusOf = async (person: Browser) => (await person.ask(page, { headers: { accept: 'application/json' } })).status
  const tell = async (claims: Record<string, unknown>, method = 'POST') => {
    const body = new URLSearchParams({ logout_token: await stage.provider.logoutToken(claims) })
    return stage.browser().ask(`https://${SIGN_IN}/backchannel-logout`, {
      method,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      ...(method === 'POST' && { body: body.toString() }),
    })
  }

  it('ends that one of them, with what is open in it, and no other', async () => {
    const [here, elsewhere, bob] = [await signIn('ada', 'one'), await signIn('ada', 'two'), await signIn('bob', 'three')]
    equal([await statusOf(here), await statusOf(elsewhere), await statusOf(bob)], [200, 200, 200])
    const [host = '', port] = stage.proxy.addresses.listen.split(':')
    const line = connect(Number(port), host)
    line.write(`GET /events HTTP/1.1\r\nHost: ${hostOf('web')}\r\nCookie: ${here.cookies(hostOf('web'))}\r\n\r\n`)
    const [head] = await once(line, 'data')
    match(String(head), '200 OK')
    const closed = once(line, 'close')
    // A provider that names both means that session of that person.
    const told = await tell({ sub: 'ada-1', sid: 'one' })
    equal([told.status, told.headers['cache-control']], [200, 'no-store'])
    await closed
    equal([await statusOf(here), await statusOf(elsewhere), await statusOf(bob)], [401, 200, 200])
  })

  it('ends all of somebody where it names nobody’s session, also that at the host for signing in', async () => {
    const [ada, bob] = [await signIn('ada', 'four'), await signIn('bob', 'five')]
    is((await tell({ sub: 'ada-1' })).status, 200)
    await eventually(async () => (await statusOf(ada)) === 401)
    is(await statusOf(bob), 200)
    stage.provider.signInAs({ sub: 'bob-1', email: 'bob@example.com' })
    const again = await ada.open(page)
    is(again.status, 403, again.body)
  })

  it('believes nothing that it has not said, to us, now', async () => {
    const bob = await signIn('bob', 'six')
    const now = Math.floor(Date.now() / 1000)
    const wrong: Record<string, unknown>[] = [
      { sub: 'bob-1', aud: 'another' },
      { sub: 'bob-1', iss: 'https://elsewhere.example.com' },
      { sub: 'bob-1', iat: now - 600 },
      { sub: 'bob-1', iat: now + 600 },
      { sub: 'bob-1', nonce: 'as in an ID token' },
      { sub: 'bob-1', events: {} },
      { sub: 'bob-1', jti: undefined },
      {},
    ]
    for (const claims of wrong) {
      const { status, body } = await tell(claims)
      equal([status, JSON.parse(body).error], [400, 'invalid_request'], JSON.stringify(claims))
    }
    stage.provider.signsWrongly = true
    is((await tell({ sub: 'bob-1' })).status, 400)
    stage.provider.signsWrongly = false
    is((await tell({ sub: 'bob-1' }, 'GET')).status, 404)
    is(await statusOf(bob), 200)
  })
})
