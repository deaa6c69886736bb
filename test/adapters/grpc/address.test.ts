import { equal, is, not, ok } from 'uvu/assert'
import { parseAddress } from '../../../src/adapters/grpc/address.ts'
import { isFailure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

describe('addresses of gRPC servers', (it) => {
  const GOOD: [given: string, scheme: string, authority: string, path: string][] = [
    ['kas', 'grpc', 'kas:80', '/'],
    ['kas:8150', 'grpc', 'kas:8150', '/'],
    ['grpc://kas', 'grpc', 'kas:80', '/'],
    ['grpcs://kas.example', 'grpcs', 'kas.example:443', '/'],
    ['GRPCS://kas.example:8443', 'grpcs', 'kas.example:8443', '/'],
    ['ws://kas', 'ws', 'kas:80', '/'],
    ['wss://kas.example/-/kas?x=y', 'wss', 'kas.example:443', '/-/kas?x=y'],
    ['grpcs://[2001:db8::1]', 'grpcs', '[2001:db8::1]:443', '/'],
  ]
  for (const [given, scheme, authority, path] of GOOD)
    it(`may be ${given}`, () => {
      const address = parseAddress(given)
      equal([address.scheme, address.authority, address.path], [scheme, authority, path])
    })

  it('have hosts of IPv6 without brackets', () => {
    is(parseAddress('grpc://[::1]:5').host, '::1')
  })

  const BAD = [
    '',
    'http://kas',
    'kas/path',
    'grpcs://kas/path',
    'grpc://',
    'kas:0',
    'kas:65536',
    'ws://user:hidden@kas',
    'a b',
    '2001:db8::1',
  ]
  for (const given of BAD)
    it(`may not be "${given}"`, () => {
      try {
        parseAddress(given)
      } catch (thrown) {
        ok(isFailure(thrown, 'invalid'))
        not.match(thrown.message, 'hidden')
        return
      }
      ok(false, 'it was taken')
    })
})
