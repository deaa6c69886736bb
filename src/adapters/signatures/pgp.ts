import { setImmediate as breathe } from 'node:timers/promises'
import { createMessage, enums, type Key, readKeys, readSignature, type SignaturePacket, verify } from 'openpgp'
import { beginningOf, Failure, harmlessLine, minutes } from '../../std/index.ts'
import type { SignatureVerdict } from './verdict.ts'

/** Public keys of OpenPGP, by the ids of all their parts. */
export interface PgpKeys {
  readonly size: number
  with(keyId: string): readonly Key[]
}

const KEY = '-----BEGIN PGP PUBLIC KEY BLOCK-----'
const BEGIN = '-----BEGIN PGP SIGNATURE-----'
const END = '-----END PGP SIGNATURE-----'

/** Where the clock of whoever signs is ahead of ours. */
const SKEW = minutes(5)

/** Of one key, that are looked at. */
const MOST_FORMS = 8

/** How many blocks of keys there are. */
export const countPgpKeys = (text: string): number => text.split(KEY).length - 1

/** Throws `invalid` with the file that it cannot read. */
export async function readPgpKeys(files: readonly (readonly [name: string, text: string])[]): Promise<PgpKeys> {
  const keys: Key[] = []
  for (const [name, text] of files) {
    const [before = '', ...blocks] = text.split(KEY)
    if (blocks.length === 0 || before.includes('PRIVATE KEY'))
      throw new Failure(
        'invalid',
        `its ${beginningOf(name, 253)}: there is no public key in it, such as gpg --armor --export writes`,
      )
    for (const block of blocks) {
      await breathe()
      keys.push(...(await keysIn(name, `${KEY}${block}`)))
    }
  }
  const byId = Map.groupBy(
    keys.flatMap((key) => [...new Set(key.getKeys().map((part) => part.getKeyID().toHex()))].map((id) => ({ id, key }))),
    ({ id }) => id,
  )
  return { size: keys.length, with: (keyId) => (byId.get(keyId) ?? []).map(({ key }) => key) }
}

async function keysIn(name: string, armored: string): Promise<Key[]> {
  const keys = await readKeys({ armoredKeys: armored }).catch((thrown: unknown) => {
    throw new Failure('invalid', `its ${beginningOf(name, 253)}: ${wordsOf(thrown)}`, { cause: thrown })
  })
  if (keys.some((key) => key.isPrivate()))
    throw new Failure('invalid', `its ${beginningOf(name, 253)}: it has a private key; only public ones belong there`)
  return keys
}

export const isPgpSignature = (text: string): boolean => text.startsWith(BEGIN)

/** Whether one of the keys, good now, has signed this. Throws for what is no signature. `now`: milliseconds since 1970. */
export async function judgePgp(
  armored: string,
  payload: Buffer,
  keys: PgpKeys | undefined,
  now: number,
): Promise<SignatureVerdict> {
  const { signature, packet } = await signatureIn(armored)
  const keyId = packet.issuerKeyID.toHex()
  const known = keys?.with(keyId) ?? []
  // A key that was renewed may stand there in its older form as well.
  const troubles = await Promise.all(known.slice(0, MOST_FORMS).map((form) => troubleOf(form, packet, now)))
  const at = Math.max(troubles.indexOf(undefined), 0)
  const key = known[at]
  if (!key)
    return { reason: 'CommitSignerNotAllowed', why: `is signed by PGP key ${keyId.toUpperCase()}, which is not among the keys` }
  const signer = nameOf(key, keyId)
  const trouble = troubles[at]
  if (trouble) return { reason: 'CommitSignerNotAllowed', why: `is signed by ${signer}, a key that cannot sign now: ${trouble}` }
  const { signatures } = await verify({
    message: await createMessage({ binary: payload }),
    signature,
    verificationKeys: key,
    date: new Date(now + SKEW),
    format: 'binary',
    // That the key is good now was asked already; one that was renewed after it had signed is as good.
    config: { allowInsecureVerificationWithReformattedKeys: true },
  })
  try {
    await signatures[0]?.verified
  } catch (thrown) {
    return { reason: 'CommitSignatureInvalid', why: `has no valid signature of ${signer}: ${wordsOf(thrown)}` }
  }
  return signatures.length === 1 ? { signer } : { reason: 'CommitSignatureInvalid', why: `has no valid signature of ${signer}` }
}

/** One signature of bytes, in one armor. */
async function signatureIn(armored: string) {
  if (armored.split('-----BEGIN ').length !== 2 || !armored.endsWith(END))
    throw new Failure('invalid', 'it is not one signature of PGP')
  const signature = await readSignature({ armoredSignature: armored })
  const [packet] = signature.packets
  if (!packet || signature.packets.length !== 1 || packet.signatureType !== enums.signature.binary)
    throw new Failure('invalid', 'it is not one signature of bytes')
  return { signature, packet }
}

/** Why the key may not sign now: it is revoked, has expired, or is too weak. */
async function troubleOf(key: Key, { issuerKeyID }: SignaturePacket, now: number): Promise<string | undefined> {
  try {
    await key.getSigningKey(issuerKeyID, new Date(now))
    return undefined
  } catch (thrown) {
    return wordsOf(thrown)
  }
}

/** The name is what the key says of its holder. */
function nameOf(key: Key, keyId: string): string {
  const [holder = 'nobody named'] = key.getUserIDs()
  const fingerprint = key.getFingerprint().toUpperCase()
  const own = fingerprint.endsWith(keyId.toUpperCase()) ? '' : `, subkey ${keyId.toUpperCase()}`
  return `${beginningOf(harmlessLine(holder), 128)} (PGP ${fingerprint}${own})`
}

/** The library's words, which may repeat a stranger's. */
const wordsOf = (thrown: unknown): string => beginningOf(harmlessLine(Failure.from(thrown).message), 256)
