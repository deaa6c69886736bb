import { equal, is, match, ok } from 'uvu/assert'
import { createKeyPair } from '../../../src/adapters/ssh/index.ts'
import { type CoreSecret, Secrets } from '../../../src/api/index.ts'
import { openAuthority } from '../../../src/proxy/ssh/authority.ts'
import { createLog, seconds, silentLog } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const TURN = seconds(2)

describe('the key that signs certificates for SSH', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  it.after(() => cluster.close())

  const entry = (text: string) => ({ ssh_user_ca_ed25519_key: Buffer.from(text).toString('base64') })
  const placed = async (text: string) => {
    const ref = { name: 'berth-proxy-ssh-authority', namespace: await cluster.namespace('authority') }
    await kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: ref, type: 'Opaque', data: entry(text) })
    return ref
  }
  /** What a watch would have told, as far as it has. */
  const news = () => {
    const state: { kept?: CoreSecret | undefined; listener?: (now: CoreSecret | undefined) => void } = {}
    return {
      get: () => state.kept,
      onChangeOf(_ref: object, listener: (now: CoreSecret | undefined, before: CoreSecret | undefined) => void) {
        state.listener = (now) => listener(now, undefined)
        return () => delete state.listener
      },
      hear(now: CoreSecret | undefined) {
        state.kept = now
        state.listener?.(now)
      },
      isHeard: () => state.listener !== undefined,
    }
  }

  it('may be one that cannot be read: there are no certificates then, which is said once, until there is another', async () => {
    const ref = await placed('ssh-rsa, or with a passphrase')
    const lines: string[] = []
    const log = createLog('info', { write: (line) => lines.push(line) })
    const [clock, cache] = [steppedClock(), news()]
    const looks = { count: 0 }
    const counted: typeof kube.get = (...given) => {
      looks.count++
      return kube.get(...given)
    }
    cache.hear(await kube.get(Secrets, ref))
    const sources = { cache, namespace: ref.namespace }
    const follower = { get: counted, create: kube.create.bind(kube), patch: kube.patch.bind(kube) }
    const authority = await openAuthority(follower, sources, clock, log)
    await eventually(async () => {
      await clock.step(TURN)
      return looks.count > 4
    })
    is(authority.current(), undefined)
    is(lines.length, 1)
    match(lines[0] ?? '', 'Certificates for SSH are neither signed nor taken')
    match(lines[0] ?? '', 'its ssh_user_ca_ed25519_key is no private key of ed25519')
    equal((await kube.get(Secrets, ref))?.data, entry('ssh-rsa, or with a passphrase'))
    const pair = createKeyPair()
    cache.hear(await kube.patch(Secrets, ref, { data: entry(pair.secret.reveal()) }))
    is(authority.current()?.line, pair.line)
    authority.stop()
    ok(!cache.isHeard())
  })

  it('is no replaced one, also where the news of that came before the answer that it was there', async () => {
    const [first, second] = [createKeyPair(), createKeyPair()]
    const ref = await placed(first.secret.reveal())
    const [clock, cache] = [steppedClock(), news()]
    const late: typeof kube.get = async (...given) => {
      const answer = await kube.get(...given)
      cache.hear(await kube.patch(Secrets, ref, { data: entry(second.secret.reveal()) }))
      return answer
    }
    const follower = { get: late, create: kube.create.bind(kube), patch: kube.patch.bind(kube) }
    const authority = await openAuthority(follower, { cache, namespace: ref.namespace }, clock, silentLog)
    is(authority.current()?.line, first.line)
    await clock.step(TURN)
    await clock.step(TURN)
    is(authority.current()?.line, second.line)
    authority.stop()
  })
})
