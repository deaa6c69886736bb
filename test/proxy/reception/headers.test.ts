import { equal } from 'uvu/assert'
import { headersBack, headersOnward } from '../../../src/proxy/reception/headers.ts'
import { describe } from '../../support/suite.ts'

const ONWARD = { from: '192.0.2.7', host: 'h.example', requestId: 'r1', passAuthorization: false }
const OURS = ['X-Forwarded-For', '192.0.2.7', 'X-Forwarded-Host', 'h.example', 'X-Forwarded-Proto', 'https', 'X-Request-Id', 'r1']

/** What is left of them, beside what the proxy adds. */
const onward = (...raw: string[]): string[] => {
  const all = headersOnward(raw, ONWARD)
  equal(all.slice(-OURS.length), OURS)
  return all.slice(0, -OURS.length)
}
const back = (...raw: string[]): string[] => headersBack(raw)

describe('headers that go to a workspace', (it) => {
  it('keep their order and spelling', () => {
    const raw = ['Host', 'h.example', 'X-aPP-Case', '1', 'ACCEPT', '*/*', 'x-app-case', '2']
    equal(onward(...raw), raw)
  })

  it('are without those between neighbours, also those that Connection names', () => {
    const raw = ['Connection', 'close, X-Secret', 'X-Secret', '1', 'Keep-Alive', 'timeout=5', 'TE', 'trailers', 'Trailer', 'x']
    equal(onward(...raw, 'Transfer-Encoding', 'chunked', 'Upgrade', 'h2c', 'Proxy-Authorization', 'Basic x', 'A', 'b'), [
      'A',
      'b',
    ])
  })

  it('keep what belongs to the message, whoever names it in Connection', () => {
    const raw = ['Host', 'h.example', 'Content-Length', '5', 'Cookie', 'a=1']
    equal(onward(...raw, 'Connection', 'Host, Content-Length, Cookie'), raw)
  })

  it('say nothing of origin or identity that the proxy has not said, in no spelling', () => {
    for (const name of [
      ...[
        'X-Forwarded-For',
        'X-Forwarded-Proto',
        'x-forwarded-host',
        'X-Forwarded-User',
        'X_Forwarded_User',
        'X-Forwarded_Email',
      ],
      ...['X-Forwarded-Uri', 'X-FORWARDED-PREFIX', 'Forwarded', 'X-Real-IP', 'X_Real_IP', 'X-Original-URL', 'X-Rewrite-Url'],
      ...['X-Remote-User', 'X-Remote_Group', 'X-Auth-Request-User', 'X-Berth-User', 'x_berth_anything', 'X-Request-Id', 'Via'],
      ...['True-Client-IP', 'X-Client-Ip'],
    ])
      equal(onward(name, 'spoofed'), [], name)
  })

  it('are without Authorization, unless that is wanted, and without the cookies of the proxy', () => {
    equal(onward('Authorization', 'Bearer x', 'Cookie', '__Host-berth-session=s'), [])
    equal(headersOnward(['Authorization', 'Bearer x'], { ...ONWARD, passAuthorization: true }).slice(0, 2), [
      'Authorization',
      'Bearer x',
    ])
  })

  it('ask for one upgrade, in the words of the proxy', () => {
    const all = headersOnward(['Connection', 'keep-alive, Upgrade', 'Upgrade', 'websocket'], { ...ONWARD, upgrade: 'websocket' })
    equal(all, [...OURS, 'Connection', 'Upgrade', 'Upgrade', 'websocket'])
  })
})

describe('headers that come from a workspace', (it) => {
  it('keep their order and spelling', () => {
    const raw = ['Content-Type', 'text/html', 'X-aPP', '1', 'Location', '/a', 'content-length', '3']
    equal(back(...raw), raw)
  })

  it('are without what reaches further than the answer', () => {
    for (const name of [
      'Clear-Site-Data',
      'Alt-Svc',
      'NEL',
      'Report-To',
      'X-Accel-Redirect',
      'X-Sendfile',
      'Proxy-Authenticate',
      'Upgrade',
    ])
      equal(back(name, 'x'), [], name)
  })

  it('are without cookies that would be taken for those of the proxy', () => {
    equal(back('Set-Cookie', '__Host-berth-session=x', 'set-cookie', 'a=1; Domain=example.com'), ['set-cookie', 'a=1'])
  })
})
