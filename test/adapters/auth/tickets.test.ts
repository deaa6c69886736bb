import { randomBytes } from 'node:crypto'
import { exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { equal, is, not, ok } from 'uvu/assert'
import { createTickets, type TicketKey } from '../../../src/adapters/auth/index.ts'
import { Failure, Secret } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

const ISSUER = 'https://sign-in.example.com'
const SESSION = { kind: 'session', audience: 'a.example.com' }

const keyOf = (id: string): TicketKey => ({
  id,
  sign: new Secret<Uint8Array>(randomBytes(32)),
  seal: new Secret<Uint8Array>(randomBytes(32)),
})

describe('tickets', (it) => {
  const clock = steppedClock()
  const first = keyOf('first')
  const second = keyOf('second')
  const ring = {
    all: [first],
    current: () => ring.all.at(-1) ?? first,
    byId: (id: string) => ring.all.find((key) => key.id === id),
  }
  const tickets = createTickets({ keys: ring, issuer: ISSUER, clock })
  const later = () => clock.now() + 60_000

  const refused = async (reading: Promise<unknown>): Promise<string> => {
    const thrown = await reading.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    ok(thrown instanceof Failure, 'it was believed')
    return thrown instanceof Failure ? thrown.code : ''
  }

  it('are believed by whoever made them', async () => {
    const token = await tickets.sign(SESSION, { sub: 'ada' }, later())
    is((await tickets.verify(SESSION, token)).sub, 'ada')
    const sealed = await tickets.seal(SESSION, { verifier: 'v' }, later())
    is((await tickets.open(SESSION, sealed)).verifier, 'v')
    not.match(Buffer.from(sealed.split('.').join(''), 'base64url').toString('latin1'), 'verifier')
  })

  it('count for one kind, one host and one issuer, and until they are over', async () => {
    const token = await tickets.sign(SESSION, {}, later())
    const sealed = await tickets.seal(SESSION, {}, later())
    const others = [
      { ...SESSION, kind: 'transfer' },
      { ...SESSION, audience: 'b.example.com' },
    ]
    for (const other of others)
      equal(
        [await refused(tickets.verify(other, token)), await refused(tickets.open(other, sealed))],
        ['unauthorized', 'unauthorized'],
      )
    const elsewhere = createTickets({ keys: ring, issuer: 'https://evil.example', clock })
    equal(
      [await refused(elsewhere.verify(SESSION, token)), await refused(elsewhere.open(SESSION, sealed))],
      ['unauthorized', 'unauthorized'],
    )
    await clock.step(61_000)
    equal([await refused(tickets.verify(SESSION, token)), await refused(tickets.open(SESSION, sealed))], ['expired', 'expired'])
  })

  it('are believed while their key is there, and made with the newest', async () => {
    const old = await tickets.sign(SESSION, { sub: 'ada' }, later())
    ring.all = [first, second]
    const fresh = await tickets.sign(SESSION, { sub: 'grace' }, later())
    is((await tickets.verify(SESSION, old)).sub, 'ada')
    ring.all = [second]
    is(await refused(tickets.verify(SESSION, old)), 'unauthorized')
    is((await tickets.verify(SESSION, fresh)).sub, 'grace')
    ring.all = [first]
  })

  it('of others are not believed', async () => {
    const claims = { sub: 'ada', iss: ISSUER, aud: SESSION.audience }
    const times = { iat: Math.floor(clock.now() / 1000), exp: Math.floor(later() / 1000) }
    const header = { alg: 'HS256', typ: 'berth-session', kid: 'first' }
    const own = first.sign.reveal()
    const pair = await generateKeyPair('RS256')
    const signed = (changed: object, key: Parameters<SignJWT['sign']>[0] = own, said: object = { ...claims, ...times }) =>
      new SignJWT({ ...said }).setProtectedHeader({ ...header, ...changed }).sign(key)
    is((await tickets.verify(SESSION, await signed({}))).sub, 'ada', 'what is changed below is whole before')
    const good = await signed({})
    const [head = '', body = '', signature = ''] = good.split('.')
    const forged = Buffer.from(JSON.stringify({ ...claims, ...times, sub: 'eve' })).toString('base64url')
    const spki = new TextEncoder().encode(await exportSPKI(pair.publicKey))
    const table: Record<string, string> = {
      'no algorithm': new UnsecuredJWT({ ...claims, ...times }).encode(),
      'another algorithm': await signed({ alg: 'HS512' }, randomBytes(64)),
      'a key of another kind': await signed({ alg: 'RS256' }, pair.privateKey),
      'a public key as a secret': await signed({}, spki),
      'another key': await signed({}, randomBytes(32)),
      'the key that seals': await signed({}, first.seal.reveal()),
      'a key that is not known': await signed({ kid: 'third' }),
      'a key by a path': await signed({ kid: '../first' }),
      'no key': await signed({ kid: undefined }),
      'no type': await signed({ typ: undefined }),
      'no end': await signed({}, own, { ...claims, iat: times.iat }),
      'no audience': await signed({}, own, { iss: ISSUER, ...times }),
      'no issuer': await signed({}, own, { aud: SESSION.audience, ...times }),
      'an unknown critical header': `${Buffer.from(JSON.stringify({ ...header, crit: ['b64'], b64: false })).toString('base64url')}.${body}.${signature}`,
      'a changed body': `${head}.${forged}.${signature}`,
      'no signature': `${head}.${body}.`,
      'half of it': good.slice(0, good.length / 2),
      nothing: '',
      'no token': 'x.y.z',
      'too much': `${good}${'a'.repeat(9000)}`,
      'a sealed one': await tickets.seal(SESSION, claims, later()),
    }
    for (const [why, token] of Object.entries(table)) is(await refused(tickets.verify(SESSION, token)), 'unauthorized', why)
    is(await refused(tickets.open(SESSION, good)), 'unauthorized', 'a signed one is no sealed one')
  })
})
