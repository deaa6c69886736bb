import { createMessage, encrypt, enums, generateKey, type PrivateKey, readKey, readPrivateKey } from 'openpgp'
import * as assert from 'uvu/assert'
import { readKeys } from '../../../src/adapters/sops/index.ts'
import { openPgpMessage } from '../../../src/adapters/sops/pgp.ts'
import { createDecryption, createRenderer, type Render } from '../../../src/engines/render/index.ts'
import { isRecord } from '../../../src/std/index.ts'
import { kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { refusalOf } from '../../support/refusal.ts'
import { lacksSops, realSops, type Sops } from '../../support/sops.ts'
import { describe } from '../../support/suite.ts'

interface PgpKey {
  armored: string
  ring: Uint8Array
  fingerprint: string
}

const SECRET = JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one' }, stringData: { a: 'open sesame' } })

describe(
  'what SOPS has encrypted for PGP',
  (it) => {
    let render: Render
    let sops: Sops
    let ours: PgpKey
    let others: PgpKey

    it.before(async () => {
      render = createRenderer({ kubectl: await kubectl() })
      ;[sops, ours, others] = await Promise.all([realSops(), keyOf({ type: 'rsa', rsaBits: 2048 }), keyOf({ type: 'ecc' })])
    })

    async function keyOf(how: { type: 'rsa'; rsaBits: number } | { type: 'ecc' }, passphrase?: string): Promise<PgpKey> {
      const userIDs = [{ name: 'shop' }]
      const options = { ...how, userIDs, ...(passphrase !== undefined && { passphrase }) }
      const { privateKey, publicKey } = await generateKey({ ...options, format: 'armored' })
      const key = await readKey({ armoredKey: publicKey })
      return { armored: privateKey, ring: key.write(), fingerprint: key.getFingerprint().toUpperCase() }
    }
    const encrypted = ({ ring, fingerprint }: PgpKey) => sops.encryptForPgp(ring, fingerprint, 'a.yaml', SECRET)
    const decrypted = async (text: string, ...keys: PgpKey[]) => {
      const fields = Object.fromEntries(keys.map(({ armored }, at) => [`${at}.asc`, armored]))
      const [manifest] = await createDecryption(await readKeys(fields, 'Secret sops-keys')).open(
        await render(snapshot({ 'd/a.yaml': text }), 'd'),
      )
      assert.is(manifest?.problem, undefined)
      const data = manifest?.object.data
      return Buffer.from(isRecord(data) ? String(data.a) : '', 'base64').toString()
    }

    it('is read with the private key, of any kind, by its fingerprint or its long id', async () => {
      for (const key of [ours, others]) {
        const text = await encrypted(key)
        assert.is(await decrypted(text, others, ours), 'open sesame')
        assert.is(
          await decrypted(text.replace(`fp: ${key.fingerprint}`, `fp: "${key.fingerprint.slice(-16)}"`), ours, others),
          'open sesame',
        )
      }
    })

    it('says for whom it is where the key is another one, or has a passphrase', async () => {
      const text = await encrypted(ours)
      assert.match(
        await refusalOf(decrypted(text, others)),
        `d/a.yaml: is encrypted for PGP ${ours.fingerprint}, and Secret sops-keys has the key of none of them`,
      )
      const shut = await keyOf({ type: 'ecc' }, 'a passphrase')
      assert.match(
        await refusalOf(decrypted(text, shut)),
        /^Secret sops-keys: "0\.asc" is a private key of PGP with a passphrase/,
      )
      const cut = { ...ours, armored: ours.armored.slice(0, 400) }
      assert.match(await refusalOf(decrypted(text, cut)), /^Secret sops-keys: "0\.asc" is no private key of PGP in armour/)
      const damaged = text.replace(/(BEGIN PGP MESSAGE[\s\S]{150})./, '$1=')
      assert.match(await refusalOf(decrypted(damaged, ours)), `the data key that it holds for ${ours.fingerprint} is damaged`)
    })

    it('is not unpacked where it would become large', async () => {
      const key: PrivateKey = await readPrivateKey({ armoredKey: ours.armored })
      const bomb = await encrypt({
        message: await createMessage({ binary: new Uint8Array(8 * 2 ** 20) }),
        encryptionKeys: key.toPublic(),
        config: { preferredCompressionAlgorithm: enums.compression.zlib },
      })
      assert.is(await openPgpMessage(bomb, key), undefined)
      assert.ok(bomb.length < 16 * 2 ** 10, `${bomb.length}`)
      const text = JSON.stringify({
        ...JSON.parse(SECRET),
        stringData: { a: 'ENC[AES256_GCM,data:,iv:,tag:,type:str]' },
        sops: { mac: 'ENC[', lastmodified: '', pgp: [{ fp: ours.fingerprint, enc: bomb }] },
      })
      assert.match(await refusalOf(decrypted(text, ours)), `the data key that it holds for ${ours.fingerprint} is damaged`)
      const large = text.replace('BEGIN PGP', `${'x'.repeat(20_000)}BEGIN PGP`)
      assert.match(await refusalOf(decrypted(large, ours)), /is encrypted for nobody/)
    })
  },
  await lacksSops(),
)
