import * as assert from 'uvu/assert'
import { createAuthority, issueCertificate } from '../../src/adapters/certificates/index.ts'
import { Secrets } from '../../src/api/index.ts'
import { type CertificateWish, keepCertificates, keepSharedSecret, type Place } from '../../src/certificates/keep.ts'
import { hours, isFailure } from '../../src/std/index.ts'
import { steppedClock } from '../support/clock.ts'
import { failureOf, refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { certificateStage } from './stage.ts'

const days = (count: number) => hours(24 * count)
const KAS: CertificateWish = { secret: 'kas-tls', names: ['kas.berth-system.svc', 'kas.example.com', '192.0.2.7', '2001:db8::7'] }
const PROXY: CertificateWish = { secret: 'berth-proxy-tls', names: ['*.workspaces.example.com'] }

describe('the certificates of an installation', (it) => {
  const stage = certificateStage()
  const clock = steppedClock()
  it.after(() => stage.close())

  /** As the account that is shipped, in a namespace of its own. */
  const place = async (): Promise<Place> => {
    const namespace = await stage.installed()
    const kube = stage.kube.as({ user: `system:serviceaccount:${namespace}:berth-certificates` })
    await eventually(() => kube.get(Secrets, { namespace, name: 'kas-tls' }))
    return { kube, namespace, clock }
  }
  const keep = async (where: Place, ...wishes: CertificateWish[]) =>
    (await keepCertificates(where, wishes)).map(({ secret, what }) => `${secret} ${what}`)

  it('are made out to their names by one authority, and are kept', async () => {
    const where = await place()
    const { namespace } = where
    assert.equal(await keep(where, KAS, PROXY), ['berth-authority made', 'kas-tls made', 'berth-proxy-tls made'])
    const [authority, kas, proxy] = [
      await stage.certificate(namespace, 'berth-authority'),
      await stage.certificate(namespace, 'kas-tls'),
      await stage.certificate(namespace, 'berth-proxy-tls'),
    ]
    assert.ok(kas.checkIssued(authority) && kas.verify(authority.publicKey) && proxy.verify(authority.publicKey))
    assert.ok(kas.checkHost('kas.example.com') && kas.checkIP('192.0.2.7') && kas.checkIP('2001:db8::7'))
    assert.ok(proxy.checkHost('8080-web-abc.workspaces.example.com'))
    assert.is((await stage.texts(namespace, 'kas-tls'))['ca.crt'], authority.toString())
    assert.equal(await keep(where, KAS, PROXY), ['berth-authority kept', 'kas-tls kept', 'berth-proxy-tls kept'])
  })

  it('are renewed when a third of their life is left, and not before', async () => {
    const where = { ...(await place()), clock: steppedClock() }
    await keep(where, KAS)
    const before = await stage.texts(where.namespace, 'kas-tls')
    await where.clock.step(days(59))
    assert.equal(await keep(where, KAS), ['berth-authority kept', 'kas-tls kept'])
    await where.clock.step(days(1.1))
    assert.equal(await keep(where, KAS), ['berth-authority kept', 'kas-tls renewed'])
    const after = await stage.texts(where.namespace, 'kas-tls')
    assert.is.not(after['tls.crt'], before['tls.crt'])
    assert.is.not(after['tls.key'], before['tls.key'])
    assert.is(after['ca.crt'], before['ca.crt'])
  })

  it('are renewed for other names, and when the authority is another', async () => {
    const where = await place()
    const { namespace } = where
    await keep(where, KAS)
    assert.equal(await keep(where, { ...KAS, names: ['kas.berth-system.svc'] }), ['berth-authority kept', 'kas-tls renewed'])
    await stage.put(namespace, 'berth-authority', { 'tls.crt': null, 'tls.key': null })
    assert.equal(await keep(where, { ...KAS, names: ['kas.berth-system.svc'] }), ['berth-authority made', 'kas-tls renewed'])
    const authority = await stage.certificate(namespace, 'berth-authority')
    assert.ok((await stage.certificate(namespace, 'kas-tls')).verify(authority.publicKey))
  })

  it('are left to whoever else has put one there', async () => {
    const where = await place()
    const theirs = await createAuthority('somebody', { clock, lifetime: days(1) })
    const request = { name: 'kas', dnsNames: ['kas'], usages: ['server'] as const }
    const { certificate, key } = await issueCertificate(theirs, request, { clock, lifetime: days(1) })
    await stage.put(where.namespace, 'kas-tls', { 'tls.crt': certificate, 'tls.key': key })
    assert.equal(await keep(where, KAS), ['berth-authority made', 'kas-tls foreign'])
    assert.equal(await stage.texts(where.namespace, 'kas-tls'), { 'tls.crt': certificate, 'tls.key': key })
  })

  it('are not written over what cannot be read: the Secret, the reason and the remedy are told', async () => {
    const where = await place()
    const { namespace } = where
    await stage.put(namespace, 'kas-tls', { 'tls.crt': 'nothing' })
    const unread = await failureOf(() => keep(where, KAS))
    assert.is(unread.message, `Secret ${namespace}/kas-tls has no certificate under tls.crt`)
    assert.match(unread.remedy ?? '', /take tls.crt and tls.key out of kas-tls/)
    await stage.put(namespace, 'berth-authority', { 'tls.key': 'nothing' })
    assert.match((await failureOf(() => keep(where, KAS))).remedy ?? '', /take tls.crt and tls.key out of berth-authority/)
    const theirs = await createAuthority('somebody', { clock, lifetime: days(1) })
    const ours = await createAuthority('berth-authority', { clock, lifetime: days(1) })
    for (const [{ certificate }, key] of [
      [theirs, theirs.key],
      [ours, theirs.key],
      [ours, 'nothing'],
    ] as const) {
      await stage.put(namespace, 'berth-authority', { 'tls.crt': certificate, 'tls.key': key })
      assert.match((await failureOf(() => keep(where, KAS))).message, /berth-authority is no authority that Berth made/)
    }
  })

  it('are made once, however many make them at the same time', async () => {
    const where = await place()
    const outcomes = await Promise.allSettled([keep(where, KAS), keep(where, KAS), keep(where, KAS)])
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') assert.ok(isFailure(outcome.reason, 'conflict'), String(outcome.reason))
    const authority = await stage.certificate(where.namespace, 'berth-authority')
    await eventually(async () => (await keep(where, KAS)).every((line) => line.endsWith(' kept')))
    assert.ok((await stage.certificate(where.namespace, 'kas-tls')).verify(authority.publicKey))
  })

  it('come with a secret by which several kas know one another', async () => {
    const where = await place()
    assert.is((await keepSharedSecret(where, 'kas-private-api')).what, 'made')
    const { secret } = await stage.texts(where.namespace, 'kas-private-api')
    assert.is(Buffer.from(secret ?? '', 'base64').length, 32)
    assert.is((await keepSharedSecret(where, 'kas-private-api')).what, 'kept')
  })

  it('are all that the account may write: it makes no Secret and reads no other', async () => {
    const { kube, namespace } = await place()
    const other = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'other', namespace } }
    assert.match(
      await refusalOf(stage.kube.as({ user: `system:serviceaccount:${namespace}:berth-certificates` }).create(Secrets, other)),
      /cannot create resource "secrets"/,
    )
    await stage.kube.create(Secrets, other)
    assert.match(await refusalOf(kube.get(Secrets, { namespace, name: 'other' })), /cannot get resource "secrets"/)
  })
})
