import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match } from 'uvu/assert'
import { addressesBehind, isOwnAddress } from '../../../src/adapters/grpc/index.ts'
import { createPeerRegistry } from '../../../src/kas/routing/index.ts'
import { Failure, Secret, seconds, silentLog } from '../../../src/std/index.ts'
import { selfSigned } from '../../support/builders/certificate.ts'
import { steppedClock } from '../../support/clock.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { ask, connectAgent, type Kas, METHOD, named, openKas, secretFile } from './kas-stage.ts'

describe('kas that know each other by name', (it) => {
  const given = (names: Record<string, string[] | undefined>) => {
    const clock = steppedClock()
    let looks = 0
    const registry = createPeerRegistry({
      peers: Object.keys(names),
      async resolve(peer) {
        looks++
        const found = names[peer]
        if (!found) throw new Failure('unavailable', 'no such name')
        return found
      },
      isSelf: (url) => url === 'grpc://10.0.0.1:8155',
      clock,
      log: silentLog,
    })
    return { clock, registry, looks: () => looks }
  }

  it('are all that a name stands for, but not the one that asks', async () => {
    const { registry } = given({ peers: ['grpc://10.0.0.1:8155', 'grpc://10.0.0.2:8155'], more: ['grpc://10.0.0.2:8155'] })
    equal(await registry.kasToAsk(1n), ['grpc://10.0.0.2:8155'])
    is(registry.peerOf('grpc://10.0.0.2:8155'), 'peers')
    is(registry.peerOf('grpc://10.0.0.9:8155'), undefined)
    is(registry.size, 1)
  })

  it('are looked up again after two seconds, and stay who they were while that fails', async () => {
    const names: Record<string, string[] | undefined> = { peers: ['grpc://10.0.0.2:8155'] }
    const { clock, registry, looks } = given(names)
    for (let n = 0; n < 5; n++) await registry.kasToAsk(1n)
    is(looks(), 1)
    names.peers = undefined
    await clock.step(seconds(2))
    equal(await registry.kasToAsk(1n), ['grpc://10.0.0.2:8155'])
    names.peers = ['grpc://10.0.0.3:8155']
    await clock.step(seconds(2))
    await registry.kasToAsk(1n)
    await clock.step(0)
    equal(await registry.kasToAsk(1n), ['grpc://10.0.0.3:8155'])
    is(clock.waiting(), 0)
  })

  it('are told of as soon as they appear to who waits for an agent, and looked for only then', async () => {
    const names = { peers: ['grpc://10.0.0.2:8155'] }
    const { clock, registry, looks } = given(names)
    const told: string[] = []
    const unfollow = registry.follow(1n, (url) => told.push(url))
    await registry.kasToAsk(1n)
    names.peers.push('grpc://10.0.0.3:8155')
    await clock.step(seconds(2))
    equal(told.at(-1), 'grpc://10.0.0.3:8155')
    unfollow()
    const before = looks()
    await clock.step(seconds(60))
    is(looks(), before)
    is(clock.waiting(), 0)
  })

  it('have the addresses that the name has, and know their own', async () => {
    equal(await addressesBehind('grpcs://127.0.0.1:8155'), ['grpcs://127.0.0.1:8155'])
    equal((await addressesBehind('grpc://localhost:1')).includes('grpc://127.0.0.1:1'), true)
    match((await failureOf(() => addressesBehind('grpc://nobody.invalid:1'))).message, 'nobody.invalid')
    for (const [url, own, leadsBack] of [
      ['grpc://127.0.0.1:1', '0.0.0.0:1', true],
      ['grpc://127.0.0.1:1', '0.0.0.0:2', false],
      ['grpc://127.0.0.1:1', '127.0.0.1:1', true],
      ['grpc://192.0.2.1:1', '0.0.0.0:1', false],
    ] as const)
      equal(isOwnAddress(url, own), leadsBack, `${url} at ${own}`)
  })
})

describe('kas among themselves with TLS', (it) => {
  const { key, cert } = selfSigned('localhost')
  const tls = { certificate: Buffer.from(cert), key: new Secret<Uint8Array>(Buffer.from(key)) }
  let secret: Awaited<ReturnType<typeof secretFile>>
  let folder = ''
  let peersCa = ''
  const closing: (() => Promise<void>)[] = []
  it.before(async () => {
    secret = await secretFile()
    folder = await mkdtemp(join(tmpdir(), 'berth-peers-'))
    peersCa = join(folder, 'ca.crt')
    await writeFile(peersCa, cert)
  })
  it.afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
  it.after(async () => {
    await secret.remove()
    await rm(folder, { recursive: true })
  })
  const kas = async (options: Parameters<typeof openKas>[1]): Promise<Kas> => {
    const one = await openKas(secret.file, options)
    closing.push(() => one.kill())
    return one
  }
  /** Its certificate is made out to this name. */
  const urlOf = ({ privateApi }: Kas, name = 'localhost') => `grpcs://${name}:${privateApi.split(':')[1]}`

  it('believe a certificate of their own authority, made out to the name in the settings', async () => {
    const second = await kas({ tls })
    closing.push(connectAgent(second, 1n, named('there')))
    const first = await kas({ peers: [urlOf(second)], peersCa })
    equal(await ask(first.router, 1n, 'x'), ['there', 'x'])
    await eventually(async () => (await first.metrics.render()).includes('berth_kas_routed_requests_total{way="peer"} 1'))
    match(await second.metrics.render(), /berth_kas_peer_requests_total\{tunnel="\w+"\} 1/)
  })

  it('believe no other', async () => {
    const second = await kas({ tls })
    closing.push(connectAgent(second, 1n, named('there')))
    for (const options of [{ peers: [urlOf(second)] }, { peers: [urlOf(second, '127.0.0.1')], peersCa }]) {
      const first = await kas({ ...options, wait: seconds(1) })
      is((await failureOf(() => first.router.open(1n, METHOD, {}))).reason, 'AgentNotConnected')
    }
  })

  it('do not start with an authority that cannot be read', async () => {
    const failure = await failureOf(() => openKas(secret.file, { peers: ['grpcs://localhost:1'], peersCa: join(folder, 'none') }))
    match(failure.remedy ?? '', '--peers-ca')
  })
})
