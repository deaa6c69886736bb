import type { PrivateKey } from 'openpgp'

/** By the fingerprints of the key and of its subkeys, in capital letters. */
export type PrivatePgpKeys = ReadonlyMap<string, PrivateKey>

/** A data key has 32 bytes, and a message with much else in it is none. */
const MOST_BYTES = 2 ** 14
/** What is read of a fingerprint at least: the long id of a key. */
const LEAST = 16

/** The private keys in a text; `bad` says what is wrong with it. The library is large, and loaded where somebody has such a key. */
export async function readPgpKeys(armored: string, bad: (what: string) => Error): Promise<Map<string, PrivateKey>> {
  const { readPrivateKeys } = await import('openpgp')
  const found = new Map<string, PrivateKey>()
  const keys = await readPrivateKeys({ armoredKeys: armored }).catch((): PrivateKey[] => {
    // The library may quote what it was given.
    throw bad('is no private key of PGP in armour (-----BEGIN PGP PRIVATE KEY BLOCK-----)')
  })
  for (const key of keys) {
    if (!key.isDecrypted()) throw bad('is a private key of PGP with a passphrase; take it away, or export another one')
    for (const each of key.getKeys()) found.set(each.getFingerprint().toUpperCase(), key)
  }
  return found
}

/** The key that a file names, by its fingerprint or its long id. */
export function pgpKeyFor(name: string, keys: PrivatePgpKeys): PrivateKey | undefined {
  const wanted = name.replaceAll(' ', '').toUpperCase()
  const exact = keys.get(wanted)
  if (exact || wanted.length < LEAST) return exact
  return [...keys].find(([fingerprint]) => fingerprint.endsWith(wanted))?.[1]
}

/** What a message for one of the keys holds; `undefined` where it cannot be decrypted, or is packed so that it would become large. */
export async function openPgpMessage(armored: string, key: PrivateKey): Promise<Uint8Array | undefined> {
  const { decrypt, readMessage } = await import('openpgp')
  try {
    const message = await readMessage({ armoredMessage: armored })
    const config = { maxDecompressedMessageSize: MOST_BYTES }
    const { data } = await decrypt({ message, decryptionKeys: key, format: 'binary', config })
    return data instanceof Uint8Array ? data : undefined
  } catch {
    // Whatever the library says of it may quote what it was given.
    return undefined
  }
}
