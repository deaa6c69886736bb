import { beginningOf, Failure } from '../../std/index.ts'
import { type AllowedSigner, countKeys, readAllowedSigners, readPublicKeys } from './allowed-signers.ts'
import { type ArtifactKey, readArtifactKey } from './artifact.ts'
import type { PgpKeys } from './pgp.ts'

/** The keys by which commits may be signed. */
export interface Keyring {
  /** By the fingerprint of the key; one key may stand there several times. */
  readonly ssh: ReadonlyMap<string, readonly AllowedSigner[]>
  readonly pgp: PgpKeys | undefined
}

const MOST_KEYS = 1000

/**
 * Reads `allowed_signers`, `*.pub` and `*.asc`; other files are not looked at. Throws `invalid` with the name of the file that it
 * cannot read: a key that were left out in silence would be missed when a commit comes.
 */
export async function readKeyring(files: ReadonlyMap<string, string>): Promise<Keyring> {
  const lists = [...files].filter(([name]) => name === 'allowed_signers' || name.endsWith('.pub'))
  const armored = [...files].filter(([name]) => name.endsWith('.asc'))
  // Before one of them is read: whoever writes the Secret does it at the cost of all.
  requireFew(lists.reduce((sum, [, text]) => sum + countKeys(text), 0))
  const ssh: AllowedSigner[] = []
  for (const [name, text] of lists) ssh.push(...(await inFile(name, () => signersIn(name, text))))
  const pgp = armored.length === 0 ? undefined : await pgpKeysIn(armored)
  const keys = ssh.length + (pgp?.size ?? 0)
  if (keys === 0)
    throw new Failure('invalid', 'it has no public key: neither allowed_signers with one for commits, nor one in *.pub or *.asc')
  requireFew(keys)
  return { ssh: Map.groupBy(ssh, ({ key }) => key.fingerprint), pgp }
}

/** Which of them made a signature does not stand in it: each is tried. */
const MOST_OF_ARTIFACTS = 20

/** Reads `*.pub`, each with one key of cosign. Throws as `readKeyring` does. */
export async function readArtifactKeys(files: ReadonlyMap<string, string>): Promise<readonly ArtifactKey[]> {
  const pem = [...files].filter(([name]) => name.endsWith('.pub'))
  if (pem.length === 0) throw new Failure('invalid', 'it has no public key for artifacts, in *.pub')
  requireFew(pem.length, MOST_OF_ARTIFACTS)
  const keys: ArtifactKey[] = []
  for (const [name, text] of pem) keys.push(await inFile(name, async () => readArtifactKey(text, name.slice(0, -'.pub'.length))))
  return keys
}

function requireFew(keys: number, most = MOST_KEYS): void {
  if (keys > most) throw new Failure('invalid', `it has ${keys} public keys; at most ${most} are taken`)
}

const signersIn = (name: string, text: string): Promise<AllowedSigner[]> =>
  name === 'allowed_signers' ? readAllowedSigners(text) : readPublicKeys(text, name.slice(0, -'.pub'.length))

async function pgpKeysIn(files: readonly (readonly [name: string, text: string])[]): Promise<PgpKeys> {
  const { countPgpKeys, readPgpKeys } = await import('./pgp.ts')
  requireFew(files.reduce((sum, [, text]) => sum + countPgpKeys(text), 0))
  return readPgpKeys(files)
}

async function inFile<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (thrown) {
    throw new Failure('invalid', `its ${beginningOf(name, 253)}: ${Failure.from(thrown).message}`, { cause: thrown })
  }
}
