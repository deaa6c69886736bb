import { equal, is, match, not, ok } from 'uvu/assert'
import { describe } from '../support/suite.ts'
import { hostOf } from './running-proxy.ts'
import { type Stage, setStage } from './stage.ts'

describe('the way into a workspace', (it) => {
  let stage: Stage
  it.before(async () => {
    stage = await setStage((request, response) => {
      response.setHeader('set-cookie', [
        'theme=dark; Path=/; Domain=.ws.example.com',
        '__Host-berth-session=mine; Path=/; Secure',
      ])
      // Tells what it was sent.
      response.end(JSON.stringify({ url: request.url, headers: request.headers }))
    })
    const shares = [{ name: 'pair', user: 'grace@example.com', ports: ['app'] }]
    await stage.workspace('web', { spec: { owner: 'ada@example.com', shares } })
  })
  it.after(() => stage.close())

  const home = `https://${hostOf('web')}/`

  it('leads through the provider and back to the page that was asked for', async () => {
    stage.provider.signInAs({ sub: '1', email: 'ada@example.com', email_verified: true })
    const person = stage.browser()
    const answer = await person.open(`${home}docs/?page=2&next=//evil.example`)
    is(answer.status, 200, answer.body)
    is(answer.url.href, `${home}docs/?page=2&next=//evil.example`)
    const { headers } = JSON.parse(answer.body)
    is(headers.host, hostOf('web'))
    is(headers['x-forwarded-proto'], 'https')
    not.match(answer.body, /berth-session|ey[A-Z]/)
  })

  it('lets in whom it is shared with, and tells others whom to ask', async () => {
    stage.provider.signInAs({ sub: '2', email: 'grace@example.com' })
    is((await stage.browser().open(home)).status, 200)
    stage.provider.signInAs({ sub: '3', email: 'eve@example.com' })
    const refused = await stage.browser().open(home)
    is(refused.status, 403)
    match(refused.body, /Ask ada@example.com/)
    match(`${refused.headers['content-security-policy']}`, /^default-src 'none'/)
  })

  it('sends browsers away to sign in, and refuses whatever is no page', async () => {
    const stranger = stage.browser()
    is((await stranger.ask(home, { method: 'POST' })).status, 401)
    is((await stranger.ask(home, { headers: { 'sec-fetch-mode': 'cors' } })).status, 401)
    const sent = await stranger.ask(home)
    is(sent.status, 303)
    match(
      sent.headers.location ?? '',
      /^https:\/\/sign-in\.ws\.example\.com\/sign-in\?host=3000-web\.ws\.example\.com&path=%2F&visit=/,
    )
  })

  it('keeps cookies of workspaces to themselves, and its own from them', async () => {
    stage.provider.signInAs({ sub: '1', email: 'ada@example.com' })
    const person = stage.browser()
    const { headers } = await person.open(home)
    equal(headers['set-cookie'], ['theme=dark; Path=/'])
    const again = JSON.parse((await person.ask(home)).body)
    is(again.headers.cookie, 'theme=dark')
    ok(person.jar(hostOf('web')).get('__Host-berth-session')?.startsWith('ey'))
  })

  it('goes round a few times only with a browser that keeps no session', async () => {
    stage.provider.signInAs({ sub: '1', email: 'ada@example.com' })
    const person = stage.browser()
    let answer = await person.open(home)
    for (let n = 0; n < 20 && answer.status === 200; n++) {
      person.jar(hostOf('web')).delete('__Host-berth-session')
      answer = await person.open(home)
    }
    is(answer.status, 400)
    match(answer.body, /keeps no cookies/)
  })

  it('has no address for what it does not know', async () => {
    is((await stage.browser().ask('https://3000-nowhere.ws.example.com/')).status, 404)
    is((await stage.browser().ask(`https://${hostOf('web', 8080)}/`)).status, 404)
  })

  it('writes no ticket and no cookie into its log', () => {
    match(stage.proxy.log(), /"path":"\/\.berth\/arrive"/)
    not.match(stage.proxy.log(), /ey[A-Za-z0-9_-]{20}|code=|ticket=/)
  })
})
