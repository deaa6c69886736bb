import { beginningOf, Failure } from '../../std/index.ts'
import { type AllowedSigner, readAllowedSigners, readPublicKeys } from './allowed-signers.ts'
import type { PgpKeys } from './pgp.ts'

/** The keys by which commits may be signed. */
export interface Keyring {
  /** By the fingerprint of the key; one key may stand there several times. */
  readonly ssh: ReadonlyMap<string, readonly AllowedSigner[]>
  readonly pgp: PgpKeys | undefined
}

export const MOST_KEYS = 1000

/**
 * Reads `allowed_signers`, `*.pub` and `*.asc`; other files are not looked at. Throws `invalid` with the name of the file that it
 * cannot read: a key that were left out in silence would be missed when a commit comes.
 */
export async function readKeyring(files: ReadonlyMap<string, string>): Promise<Keyring> {
  const ssh = [...files].flatMap(([name, text]) => {
    if (name === 'allowed_signers') return inFile(name, () => readAllowedSigners(text))
    return name.endsWith('.pub') ? inFile(name, () => readPublicKeys(text, name.slice(0, -'.pub'.length))) : []
  })
  const armored = [...files].filter(([name]) => name.endsWith('.asc'))
  const pgp = armored.length === 0 ? undefined : await pgpKeysIn(armored)
  const keys = ssh.length + (pgp?.size ?? 0)
  if (keys === 0)
    throw new Failure('invalid', 'it has no public key: neither allowed_signers with one for commits, nor one in *.pub or *.asc')
  if (keys > MOST_KEYS) throw new Failure('invalid', `it has ${keys} public keys; at most ${MOST_KEYS} are taken`)
  return { ssh: Map.groupBy(ssh, ({ key }) => key.fingerprint), pgp }
}

async function pgpKeysIn(files: readonly (readonly [name: string, text: string])[]): Promise<PgpKeys> {
  const { readPgpKeys } = await import('./pgp.ts')
  return readPgpKeys(files)
}

function inFile<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    throw new Failure('invalid', `its ${beginningOf(name, 253)}: ${Failure.from(thrown).message}`, { cause: thrown })
  }
}
