import { createHash } from 'node:crypto'
import type { PrivateKey } from 'openpgp'
import { beginningOf, Failure } from '../../std/index.ts'
import { type PrivatePgpKeys, readPgpKeys } from './pgp.ts'

/** The private keys with which files are read. */
export interface SopsKeys {
  /** From where they are, for what is said of them. */
  origin: string
  /** Of age, by the recipient that each of them is. */
  age: ReadonlyMap<string, string>
  pgp: PrivatePgpKeys
  /** The same for the same keys. */
  digest: string
}

const AGE = /^AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{10,200}$/
/** Each is worked out once; nobody has a hundred. */
const MOST = 100

/** The keys in the fields of a Secret: `*.agekey` with identities of age, one a line, and `*.asc` with keys of PGP. `origin` says of which. */
export async function readKeys(fields: Readonly<Record<string, string>>, origin: string): Promise<SopsKeys> {
  const age = new Map<string, string>()
  const pgp = new Map<string, PrivateKey>()
  for (const [field, text] of Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (field.endsWith('.agekey'))
      await addIdentities(text, age, (at, what) => badKey(`${origin}: line ${at} of ${quoted(field)} ${what}`))
    if (!field.endsWith('.asc')) continue
    const bad = (what: string) => badKey(`${origin}: ${quoted(field)} ${what}`)
    for (const [fingerprint, key] of await readPgpKeys(text, bad)) pgp.set(fingerprint, key)
    if (pgp.size > MOST) throw bad(`has one key too many: ${MOST} are read, with their subkeys`)
  }
  if (age.size + pgp.size === 0)
    throw badKey(
      `${origin} has no keys: there is no field *.agekey with an identity of age in it, and no *.asc with a key of PGP`,
    )
  const digest = createHash('sha256')
    .update(JSON.stringify([[...age], [...pgp.keys()]]))
    .digest('hex')
  return { origin, age, pgp, digest }
}

const quoted = (field: string): string => JSON.stringify(beginningOf(field, 100))

/** A line that is none may be part of a key: nothing of it is told. */
async function addIdentities(text: string, age: Map<string, string>, bad: (line: number, what: string) => Error): Promise<void> {
  // Only who has encrypted files needs it.
  const { identityToRecipient } = await import('age-encryption')
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const identity = line.trim()
    if (identity === '' || identity.startsWith('#')) continue
    if (!AGE.test(identity)) throw bad(at + 1, 'is no identity of age (AGE-SECRET-KEY-1… or AGE-SECRET-KEY-PQ-1…)')
    if (age.size === MOST) throw bad(at + 1, `is one key too many: ${MOST} are read`)
    try {
      age.set(await identityToRecipient(identity), identity)
    } catch {
      throw bad(at + 1, 'is a damaged identity of age')
    }
  }
}

const badKey = (message: string): Failure =>
  new Failure('invalid', message, {
    reason: 'DecryptionKeysInvalid',
    remedy:
      'Put the private key, as age-keygen writes it, into a field whose name ends with .agekey, or one of PGP, in armour and without a passphrase, into one that ends with .asc.',
  })
