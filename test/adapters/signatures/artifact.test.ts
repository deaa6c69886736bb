import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { equal, is, match } from 'uvu/assert'
import { judgeArtifact, readArtifactKeys } from '../../../src/adapters/signatures/index.ts'
import { type CosignKey, cosignKey, digestOf, keyOf } from '../../support/cosign.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

/** What cosign 3.1.3 pushed: `sign`, `sign --new-bundle-format=false` and `attest`, each of one artifact and with one key. */
const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'recorded', 'cosign.json'), 'utf8'))

const bundle = (content: string | Buffer) => ({ content: Buffer.from(content), signature: undefined })
const keysOf = (...texts: string[]) => readArtifactKeys(new Map(texts.map((text, at) => [`key-${at}.pub`, text])))

describe('signatures of artifacts', (it) => {
  const [ann, bob] = [cosignKey(), cosignKey()]
  const [shop, other] = [digestOf('shop'), digestOf('other')]

  it('are taken as cosign itself makes them, and an attestation is none', async () => {
    const { digest, key, simple } = recorded
    const [signed, attested] = recorded.bundles
    const keys = await keysOf(key)
    const old = { ...simple, content: Buffer.from(simple.content) }
    for (const one of [bundle(signed), old]) {
      const verdict = await judgeArtifact(digest, [one], keys)
      match('signer' in verdict ? verdict.signer : verdict.why, /^key-0 \(ec SHA256:[\w+/]{43}\)$/)
      equal(await judgeArtifact(other, [one], keys), {
        reason: 'ArtifactSignatureInvalid',
        why: `has no valid signature: what ${keys[0]?.name} signed is not this artifact`,
      })
    }
    equal(await judgeArtifact(digest, [bundle(attested)], keys), {
      reason: 'ArtifactSignerNotAllowed',
      why: 'is signed, but by none of the keys',
    })
  })

  it('count by whichever of the keys made one of them', async () => {
    const keys = await keysOf(ann.public, bob.public)
    const stranger = cosignKey()
    const pushed = [bundle(stranger.bundle(shop)), stranger.simple(shop), bob.simple(shop)]
    const verdict = await judgeArtifact(shop, pushed, keys)
    match('signer' in verdict ? verdict.signer : '', /^key-1 /)
    is(((await judgeArtifact(shop, [], keys)) as { reason: string }).reason, 'ArtifactNotSigned')
    is(((await judgeArtifact(shop, pushed.slice(0, 2), keys)) as { reason: string }).reason, 'ArtifactSignerNotAllowed')
  })

  it('are of each key that cosign takes', async () => {
    const pairs: CosignKey[] = [
      keyOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }), 'sha256'),
      keyOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }), 'sha384'),
      keyOf(generateKeyPairSync('ec', { namedCurve: 'P-521' }), 'sha512'),
      keyOf(generateKeyPairSync('rsa', { modulusLength: 2048 }), 'sha256'),
      keyOf(generateKeyPairSync('ed25519'), null),
    ]
    for (const pair of pairs)
      for (const one of [bundle(pair.bundle(shop)), pair.simple(shop)])
        is('signer' in (await judgeArtifact(shop, [one], await keysOf(pair.public))), true)
  })

  it('are none where anything of them was changed', async () => {
    const keys = await keysOf(ann.public)
    const made = JSON.parse(ann.bundle(shop).toString())
    const envelope = (changes: object) => bundle(JSON.stringify({ dsseEnvelope: { ...made.dsseEnvelope, ...changes } }))
    const said = Buffer.from(made.dsseEnvelope.payload, 'base64').toString().replace(shop, other)
    const { content, signature } = ann.simple(shop)
    const forged = [
      envelope({ payload: Buffer.from(said).toString('base64') }),
      envelope({ payloadType: 'text/plain' }),
      envelope({ signatures: [{ sig: '' }, { sig: 5 }, null, { sig: 'AAAA' }] }),
      envelope({ signatures: 'none' }),
      bundle('[]'),
      bundle('{'),
      bundle('{"dsseEnvelope": {"payload": "bnVsbA==", "payloadType": "application/vnd.in-toto+json", "signatures": []}}'),
      { content: Buffer.from(content.toString().replace(shop, other)), signature },
      { content, signature: 'AAAA' },
      { content, signature: '' },
      { content: Buffer.from('null'), signature },
    ]
    for (const one of forged)
      for (const digest of [shop, other]) is('signer' in (await judgeArtifact(digest, [one], keys)), false, String(one.content))
  })

  it('need keys that can be read, each in a file', async () => {
    const why = async (files: Record<string, string>) =>
      (await failureOf(() => readArtifactKeys(new Map(Object.entries(files))))).message
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ type: 'spki', format: 'pem' })
    const secret = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`${at}.pub`, ann.public]))
    is(await why({ 'cosign.key': 'x' }), 'it has no public key for artifacts, in *.pub')
    match(await why({ 'a.pub': 'ssh-ed25519 AAAA ann' }), /^its a\.pub: it is no public key in PEM/)
    match(
      await why({ 'a.pub': '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----' }),
      /a\.pub: it is no public key in PEM/,
    )
    match(await why({ 'a.pub': ann.public + bob.public }), /a\.pub: it has several keys: write each into a file of its own/)
    match(await why({ 'a.pub': String(weak) }), /a\.pub: keys are ECDSA/)
    match(await why({ 'a.pub': String(secret) }), /a\.pub: it is a private key: take it out at once/)
    match(await why(many), /it has 21 public keys; at most 20 are taken/)
  })
})
