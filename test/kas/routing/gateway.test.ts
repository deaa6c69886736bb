import { fromBinary } from '@bufbuild/protobuf'
import { SignJWT } from 'jose'
import { equal, is, match } from 'uvu/assert'
import { createSigner } from '../../../src/adapters/auth/index.ts'
import { dial, type TextMetadata } from '../../../src/adapters/grpc/index.ts'
import { GatewayKasResponseSchema } from '../../../src/rpc/index.ts'
import { Secret, seconds, systemClock } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { ask, connectAgent, type Kas, METHOD, named, openKas, secretFile } from './kas-stage.ts'

const ID = { 'kas-hop-routing-agent-id': ['1'] }
const KAS = 'gitlab-kas'

describe('the private endpoint of kas', (it) => {
  let secret: Awaited<ReturnType<typeof secretFile>>
  let kas: Kas
  const seen: TextMetadata[] = []
  const leave: (() => Promise<void>)[] = []
  it.before(async () => {
    secret = await secretFile()
    kas = await openKas(secret.file)
    leave.push(
      connectAgent(kas, 1n, async function* (requests, call) {
        seen.push(call.metadata)
        yield* named('one')(requests, call)
      }),
    )
    // Until its tunnels are here: who asks sooner is told first that there is none.
    await ask(kas.router, 1n)
  })
  it.after(async () => {
    for (const one of leave) await one()
    await kas.kill()
    await secret.remove()
  })

  const signed = (by: { issuer?: string; audience?: string; secret?: Secret<Uint8Array>; clock?: typeof systemClock } = {}) =>
    createSigner({ secret: secret.secret, issuer: KAS, audience: KAS, clock: systemClock, ...by })

  const connections: { close(): void }[] = []
  it.afterEach(() => {
    for (const connection of connections.splice(0)) connection.close()
  })
  const open = (metadata: TextMetadata, token: (() => Promise<Secret<string>>) | undefined = signed()) => {
    const connection = dial({ address: kas.privateApi, token })
    connections.push(connection)
    return connection.duplexRaw(METHOD, { metadata })
  }
  async function kindsOf(metadata: TextMetadata, ...messages: string[]): Promise<unknown[]> {
    const call = await open(metadata)
    const kinds: unknown[] = []
    for await (const data of call.responses) {
      const { case: kind } = fromBinary(GatewayKasResponseSchema, data).msg
      kinds.push(kind)
      if (kind !== 'tunnelReady') continue
      await call.send(new Uint8Array())
      for (const message of messages) await call.send(Buffer.from(message))
      call.closeSend()
    }
    return kinds
  }
  const refused = async (token: () => Promise<Secret<string>>) => {
    const call = await open(ID, token)
    return failureOf(async () => {
      for await (const _ of call.responses);
    })
  }

  it('answers ready, header, messages and trailer, and forwards nothing of the hop', async () => {
    equal(await kindsOf({ ...ID, 'kas-hop-else': ['x'], mine: ['1'] }, 'x'), [
      'tunnelReady',
      'header',
      'message',
      'message',
      'trailer',
    ])
    equal(seen.at(-1), { mine: ['1'] })
  })

  it('says at once that it has no tunnel, and then waits for one', async () => {
    const call = await open({ 'kas-hop-routing-agent-id': ['2'] })
    const responses = call.responses[Symbol.asyncIterator]()
    const kind = async () => {
      const { value, done } = await responses.next()
      return done ? 'end' : fromBinary(GatewayKasResponseSchema, value).msg.case
    }
    is(await kind(), 'noTunnel')
    leave.push(connectAgent(kas, 2n, named('two')))
    is(await kind(), 'tunnelReady')
    call.closeSend()
    is(await kind(), 'end')
  })

  it('uses a tunnel again whose request never came', async () => {
    for (let n = 0; n < 20; n++) {
      const call = await open(ID)
      await call.responses[Symbol.asyncIterator]().next()
      if (n % 2) call.cancel()
      else call.closeSend()
    }
    equal((await kindsOf(ID)).at(-1), 'trailer')
  })

  it('wants exactly one agent', async () => {
    for (const metadata of [{}, { 'kas-hop-routing-agent-id': ['1', '2'] }, { 'kas-hop-routing-agent-id': ['x'] }]) {
      const failure = await failureOf(() => kindsOf(metadata))
      is(failure.reason, 'InvalidRequest')
    }
  })

  it('refuses who has no token, a foreign or an old one, and says no secret', async () => {
    const connection = dial({ address: kas.privateApi })
    connections.push(connection)
    const call = await connection.duplexRaw(METHOD, { metadata: ID })
    const none = await failureOf(async () => {
      for await (const _ of call.responses);
    })
    is(none.reason, 'TokenMissing')
    is((await refused(signed({ issuer: 'gitlab' }))).reason, 'TokenForeign')
    is((await refused(signed({ audience: 'gitlab' }))).reason, 'TokenForeign')
    is((await refused(signed({ secret: new Secret(new Uint8Array(32)) }))).reason, 'TokenInvalid')
    is((await refused(signed({ clock: steppedClock(Date.now() - 300_000) }))).reason, 'TokenExpired')
    is((await refused(signed({ clock: steppedClock(Date.now() + 300_000) }))).reason, 'TokenForeign')
    is((await refused(async () => new Secret('a.b.c'))).reason, 'TokenInvalid')
    match((await refused(signed({ issuer: 'gitlab' }))).message, 'iss')
  })

  it('lets no token choose its algorithm, or leave out its end', async () => {
    const jwt = () => new SignJWT().setIssuer(KAS).setAudience(KAS)
    const other = await jwt().setProtectedHeader({ alg: 'HS512' }).setExpirationTime('5s').sign(secret.secret.reveal())
    is((await refused(async () => new Secret(other))).reason, 'TokenInvalid')
    const endless = await jwt().setProtectedHeader({ alg: 'HS256' }).sign(secret.secret.reveal())
    is((await refused(async () => new Secret(endless))).reason, 'TokenForeign')
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const none = `${part({ alg: 'none' })}.${part({ iss: KAS, aud: KAS, exp: Date.now() / 1000 + 5 })}.`
    is((await refused(async () => new Secret(none))).reason, 'TokenInvalid')
  })

  it('never asks another kas, whatever its registry says', async () => {
    const hasOne = await openKas(secret.file)
    const knowsIt = await openKas(secret.file, { peers: [`grpc://${hasOne.privateApi}`], wait: 200 })
    const asks = await openKas(secret.file, { peers: [`grpc://${knowsIt.privateApi}`], wait: 200 })
    leave.push(connectAgent(hasOne, 3n, named('three')))
    await eventually(async () => (await knowsIt.router.open(3n, METHOD, {})).cancel() === undefined)
    is((await failureOf(() => asks.router.open(3n, METHOD, {}))).reason, 'AgentNotConnected')
    for (const one of [asks, knowsIt]) await one.kill()
    leave.push(() => hasOne.kill())
  })
  it('lets requests of other kas go on when it is to end, and ends when they do', async () => {
    const ending = await openKas(secret.file)
    const asks = await openKas(secret.file, { peers: [`grpc://${ending.privateApi}`], wait: 200 })
    leave.push(connectAgent(ending, 4n, named('four')))
    const call = await eventually(() => asks.router.open(4n, METHOD, {}))
    const answers = call.responses[Symbol.asyncIterator]()
    const next = async () => Buffer.from((await answers.next()).value ?? []).toString()
    is(await next(), 'four')
    let isOver = false
    const ended = ending.drain(seconds(60)).then(() => {
      isOver = true
    })
    for (const word of ['still', 'here']) {
      await call.send(Buffer.from(word))
      is(await next(), word)
    }
    // Long enough for a round on a connection that would be cut.
    await eventually(async () => (await failureOf(() => asks.router.open(5n, METHOD, {}))).reason === 'AgentNotConnected')
    is(isOver, false)
    call.closeSend()
    is((await answers.next()).done, true)
    await ended
    for (const one of [asks, ending]) await one.kill()
  })
})
