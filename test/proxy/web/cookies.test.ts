import { equal, is, throws } from 'uvu/assert'
import { cookieOf, harmlessCookie, SESSION, withoutOwn } from '../../../src/proxy/web/cookies.ts'
import { describe } from '../../support/suite.ts'

const request = (cookie: string) => ({ headers: { cookie } })

describe('cookies', (it) => {
  it('are found by their whole names', () => {
    is(cookieOf(request('a=1; __Host-berth-session=x.y; b=2'), SESSION), 'x.y')
    is(cookieOf(request('x__Host-berth-session=evil'), SESSION), undefined)
    is(cookieOf(request('__host-berth-session=evil'), SESSION), undefined)
    is(cookieOf({ headers: {} }, SESSION), undefined)
  })

  it('of one name twice are refused: a browser has one of each', () => {
    throws(() => cookieOf(request('__Host-berth-session=a; __Host-berth-session=b'), SESSION), /sent twice/)
  })

  it('of the proxy do not reach a workspace, the others do as they were', () => {
    is(withoutOwn('a=1; __Host-berth-session=x; b="2 3"; __Host-berth-visit=y; c'), 'a=1; b="2 3"; c')
    is(withoutOwn('__HOST-BERTH-session=x;__Host-berth-sign-in-abc=z'), undefined)
    is(withoutOwn(' __Host-berth-session =x; a=__Host-berth-session=y'), 'a=__Host-berth-session=y')
  })

  it('of a workspace cannot be taken for those of the proxy, and are for its host alone', () => {
    const table: [given: string, kept: string | undefined][] = [
      ['a=1; Path=/; HttpOnly', 'a=1; Path=/; HttpOnly'],
      ['a=1; Domain=ws.example.com; Path=/', 'a=1; Path=/'],
      ['a=1; domain = .ws.example.com', 'a=1'],
      ['a=1; DOMAIN', 'a=1'],
      ['__Host-berth-session=x; Path=/; Secure', undefined],
      ['__host-BERTH-session=x', undefined],
      [' __Host-berth-visit=x', undefined],
      ['=__Host-berth-session=x', undefined],
      ['__Host-berth-session', undefined],
      ['nameless', undefined],
      ['', undefined],
      ['__Host-app=1; Path=/; Secure', '__Host-app=1; Path=/; Secure'],
    ]
    equal(
      table.map(([given]) => harmlessCookie(given)),
      table.map(([, kept]) => kept),
    )
  })
})
