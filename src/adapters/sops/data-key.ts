import { beginningOf } from '../../std/index.ts'
import { refusedFile } from './failures.ts'
import type { SopsKeys } from './keys.ts'
import type { Metadata, SopsRecipient } from './metadata.ts'
import { openPgpMessage, pgpKeyFor } from './pgp.ts'
import { KEY } from './values.ts'

/** SOPS names nobody twice; each try is work, and a file may have hundreds. */
const MOST_TRIES = 2

/** The key with which all values of a file are encrypted, from the first recipient that is one of ours. */
export async function dataKeyOf({ recipients }: Metadata, keys: SopsKeys, source: string): Promise<Uint8Array> {
  let damaged: SopsRecipient | undefined
  const tries = new Map<string, number>()
  for (const recipient of recipients) {
    const { name } = recipient
    const opening = (tries.get(name) ?? 0) < MOST_TRIES ? openingOf(recipient, keys) : undefined
    if (!opening) continue
    tries.set(name, (tries.get(name) ?? 0) + 1)
    const found = await opening()
    if (found?.length === KEY) return found
    damaged ??= recipient
  }
  if (damaged)
    throw refusedFile(
      source,
      `the data key that it holds for ${beginningOf(damaged.name, 100)} is damaged, or is for another key`,
      'Encrypt it anew (`sops updatekeys`).',
    )
  throw foreign(recipients, keys, source)
}

/** How the data key is had, where the recipient is one of ours. */
function openingOf(
  { kind, name, enc }: SopsRecipient,
  { age, pgp }: SopsKeys,
): (() => Promise<Uint8Array | undefined>) | undefined {
  if (kind === 'age') {
    const identity = age.get(name)
    return identity === undefined ? undefined : () => withAge(enc, identity)
  }
  const key = pgpKeyFor(name, pgp)
  return key && (() => openPgpMessage(enc, key))
}

/** A file with a passphrase is never opened: that could take any amount of time, and only identities are given. */
async function withAge(enc: string, identity: string): Promise<Uint8Array | undefined> {
  const { armor, Decrypter } = await import('age-encryption')
  try {
    const decrypter = new Decrypter()
    decrypter.addIdentity(identity)
    return await decrypter.decrypt(armor.decode(enc))
  } catch {
    // Whatever the library says of it may quote what it was given.
    return undefined
  }
}

function foreign(recipients: readonly SopsRecipient[], { origin }: SopsKeys, source: string): Error {
  const named = recipients
    .slice(0, 3)
    .map(({ kind, name }) => (kind === 'pgp' ? `PGP ${beginningOf(name, 60)}` : beginningOf(name, 80)))
  const more = recipients.length > 3 ? ` and ${recipients.length - 3} more` : ''
  return refusedFile(
    source,
    `is encrypted for ${named.join(', ')}${more}, and ${origin} has the key of none of them`,
    'Put the private key of one of them into that Secret, or encrypt the file for a key that is there (`sops updatekeys`).',
  )
}
