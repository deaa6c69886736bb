import * as assert from 'uvu/assert'
import { createAuthority, issueCertificate } from '../../src/adapters/certificates/index.ts'
import { Secrets } from '../../src/api/index.ts'
import {
  keepAuthority,
  keepCertificate,
  keepSharedSecret,
  leaveCertificate,
  type SecretAccess,
  type WantedCertificate,
} from '../../src/certificates/keep.ts'
import { hours, isFailure } from '../../src/std/index.ts'
import { steppedClock } from '../support/clock.ts'
import { failureOf, refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { certificateStage } from './stage.ts'

const days = (count: number) => hours(24 * count)
const KAS: WantedCertificate = {
  secret: 'kas-tls',
  names: ['kas.berth-system.svc', 'kas.example.com', '192.0.2.7', '2001:db8::7'],
  keys: ['tls.crt', 'tls.key', 'ca.crt'],
}
const PROXY: WantedCertificate = { secret: 'berth-proxy-tls', names: ['*.workspaces.example.com'], keys: ['tls.crt', 'tls.key'] }

describe('the certificates of an installation', (it) => {
  const stage = certificateStage()
  const clock = steppedClock()
  it.after(() => stage.close())

  /** As the account that is shipped, in a namespace of its own. */
  const access = async (): Promise<SecretAccess> => {
    const namespace = await stage.installed()
    const kube = stage.kube.as({ user: `system:serviceaccount:${namespace}:berth-certificates` })
    await eventually(async () => (await kube.get(Secrets, { namespace, name: 'kas-tls' })) === undefined)
    return { kube, namespace, clock }
  }
  const keep = async (how: SecretAccess, ...wanted: WantedCertificate[]) => {
    const { authority, ...first } = await keepAuthority(how)
    const all = [first]
    for (const one of wanted) all.push(await keepCertificate(how, one, authority))
    return all.map(({ secret, what }) => `${secret} ${what}`)
  }

  it('are made out to their names by one authority, and are kept', async () => {
    const how = await access()
    const { namespace } = how
    assert.equal(await keep(how, KAS, PROXY), ['berth-authority made', 'kas-tls made', 'berth-proxy-tls made'])
    const [authority, kas, proxy] = [
      await stage.certificate(namespace, 'berth-authority'),
      await stage.certificate(namespace, 'kas-tls'),
      await stage.certificate(namespace, 'berth-proxy-tls'),
    ]
    assert.ok(kas.checkIssued(authority) && kas.verify(authority.publicKey) && proxy.verify(authority.publicKey))
    assert.ok(kas.checkHost('kas.example.com') && kas.checkIP('192.0.2.7') && kas.checkIP('2001:db8::7'))
    assert.ok(proxy.checkHost('8080-web-abc.workspaces.example.com'))
    assert.is((await stage.texts(namespace, 'kas-tls'))['ca.crt'], authority.toString())
    assert.equal(await keep(how, KAS, PROXY), ['berth-authority kept', 'kas-tls kept', 'berth-proxy-tls kept'])
  })

  it('are renewed when a third of their life is left, and not before', async () => {
    const how = { ...(await access()), clock: steppedClock() }
    await keep(how, KAS)
    const before = await stage.texts(how.namespace, 'kas-tls')
    await how.clock.step(days(59))
    assert.equal(await keep(how, KAS), ['berth-authority kept', 'kas-tls kept'])
    await how.clock.step(days(1.1))
    assert.equal(await keep(how, KAS), ['berth-authority kept', 'kas-tls renewed'])
    const after = await stage.texts(how.namespace, 'kas-tls')
    assert.is.not(after['tls.crt'], before['tls.crt'])
    assert.is.not(after['tls.key'], before['tls.key'])
    assert.is(after['ca.crt'], before['ca.crt'])
  })

  it('are renewed for other names, without their key, and when the authority is another', async () => {
    const how = await access()
    const { namespace } = how
    await keep(how, KAS)
    const fewer: WantedCertificate = { ...KAS, names: ['kas.berth-system.svc'] }
    assert.equal(await keep(how, fewer), ['berth-authority kept', 'kas-tls renewed'])
    const { 'tls.key': _, ...rest } = await stage.texts(namespace, 'kas-tls')
    for (const broken of [rest, { ...rest, 'tls.key': 'nothing' }]) {
      await stage.put(namespace, 'kas-tls', broken)
      assert.equal(await keep(how, fewer), ['berth-authority kept', 'kas-tls renewed'])
    }
    await stage.put(namespace, 'berth-authority', {})
    assert.equal(await keep(how, fewer), ['berth-authority made', 'kas-tls renewed'])
    const authority = await stage.certificate(namespace, 'berth-authority')
    assert.ok((await stage.certificate(namespace, 'kas-tls')).verify(authority.publicKey))
  })

  it('are left to whoever else has put one there, who is told what pods wait for', async () => {
    const how = await access()
    const theirs = await createAuthority('somebody', { clock, lifetime: days(1) })
    const request = { name: 'kas', dnsNames: ['kas'], usages: ['server'] as const }
    const { certificate, key } = await issueCertificate(theirs, request, { clock, lifetime: days(1) })
    const whole = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': theirs.certificate }
    await stage.put(how.namespace, 'kas-tls', whole)
    assert.equal(await keep(how, KAS), ['berth-authority made', 'kas-tls foreign'])
    assert.equal(await stage.texts(how.namespace, 'kas-tls'), whole)
    await stage.put(how.namespace, 'kas-tls', { 'tls.crt': certificate })
    const failure = await failureOf(() => keep(how, KAS))
    assert.is(failure.message, 'Secret kas-tls lacks tls.key, ca.crt, which pods wait for')
  })

  it('are left to somebody else by name: what Berth made is taken out, and what is missing is told until it is there', async () => {
    const how = await access()
    await keep(how, KAS)
    for (const _ of ['ours is there', 'nothing is there']) {
      const failure = await failureOf(() => leaveCertificate(how, KAS, 'cert-manager'))
      assert.is(failure.message, 'Secret kas-tls lacks tls.crt, tls.key, ca.crt, which pods wait for')
      assert.match(failure.remedy ?? '', 'cert-manager is to fill it')
      assert.equal(await stage.texts(how.namespace, 'kas-tls'), {})
    }
    const { certificate, key } = await createAuthority('somebody', { clock, lifetime: days(1) })
    const theirs = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': certificate }
    await stage.put(how.namespace, 'kas-tls', theirs)
    assert.is((await leaveCertificate(how, KAS, 'cert-manager')).what, 'foreign')
    assert.equal(await stage.texts(how.namespace, 'kas-tls'), theirs)
  })

  it('are not written over what cannot be read: the Secret, the reason and the remedy are told', async () => {
    const how = await access()
    const { namespace } = how
    await stage.put(namespace, 'kas-tls', { 'tls.crt': 'nothing' })
    const unread = await failureOf(() => keep(how, KAS))
    assert.is(unread.message, 'Secret kas-tls has no certificate under tls.crt')
    assert.match(unread.remedy ?? '', /Or delete kas-tls, and it is made anew/)
    await stage.put(namespace, 'berth-authority', { 'tls.key': 'nothing' })
    assert.match((await failureOf(() => keep(how, KAS))).remedy ?? '', /Or delete berth-authority, and it is made anew/)
    const theirs = await createAuthority('somebody', { clock, lifetime: days(1) })
    const ours = await createAuthority('berth-authority', { clock, lifetime: days(1) })
    for (const [{ certificate }, key] of [
      [theirs, theirs.key],
      [ours, theirs.key],
      [ours, 'nothing'],
    ] as const) {
      await stage.put(namespace, 'berth-authority', { 'tls.crt': certificate, 'tls.key': key })
      assert.match((await failureOf(() => keep(how, KAS))).message, /berth-authority is no authority that Berth made/)
    }
  })

  it('are made once, however many make them at the same time', async () => {
    const how = await access()
    const outcomes = await Promise.allSettled([keep(how, KAS), keep(how, KAS), keep(how, KAS)])
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        assert.ok(isFailure(outcome.reason, 'conflict', 'already-exists'), String(outcome.reason))
    const authority = await stage.certificate(how.namespace, 'berth-authority')
    await eventually(async () => (await keep(how, KAS)).every((line) => line.endsWith(' kept')))
    assert.ok((await stage.certificate(how.namespace, 'kas-tls')).verify(authority.publicKey))
  })

  it('come with a secret by which several kas know one another', async () => {
    const how = await access()
    assert.is((await keepSharedSecret(how, 'kas-private-api')).what, 'made')
    const { secret } = await stage.texts(how.namespace, 'kas-private-api')
    assert.is(Buffer.from(secret ?? '', 'base64').length, 32)
    assert.is((await keepSharedSecret(how, 'kas-private-api')).what, 'kept')
  })
})

describe('the rights of the account that keeps certificates', (it) => {
  const stage = certificateStage()
  const namespace = 'berth-system'
  const account = stage.kube.as({ user: 'system:serviceaccount:berth-system:berth-certificates' })
  const secret = (name: string, more = {}) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, ...more })
  it.before(() => eventually(() => account.create(Secrets, secret('kas-tls'), { dryRun: true })))
  it.after(() => stage.close())

  it('let it make its own Secrets, and nothing that could be the settings or the token of another program', async () => {
    const create = (name: string, more = {}) => refusalOf(account.create(Secrets, secret(name, more), { dryRun: true }))
    assert.match(await create('berth-proxy-keys'), /creates those of certificates only/)
    const annotations = { 'kubernetes.io/service-account.name': 'berth-operator' }
    const metadata = { name: 'kas-tls', namespace, annotations }
    assert.match(await create('kas-tls', { metadata, type: 'kubernetes.io/service-account-token' }), /without a type of its own/)
  })

  it('let it see and change no other', async () => {
    await stage.kube.apply(Secrets, secret('other'), { manager: 'test' })
    const ref = { name: 'other', namespace }
    assert.match(await refusalOf(account.get(Secrets, ref)), /cannot get resource "secrets"/)
    assert.match(await refusalOf(account.list(Secrets, { namespace })), /cannot list resource "secrets"/)
    assert.match(await refusalOf(account.patch(Secrets, ref, { data: {} })), /cannot patch resource "secrets"/)
    assert.match(await refusalOf(account.delete(Secrets, { name: 'kas-tls', namespace })), /cannot delete resource "secrets"/)
    await stage.kube.delete(Secrets, ref)
  })
})
