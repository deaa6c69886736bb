import { createHash } from 'node:crypto'
import { Failure } from '../../std/index.ts'

/** The private keys with which files are read. */
export interface SopsKeys {
  /** From where they are, for what is said of them. */
  origin: string
  /** Of age, by the recipient that each of them is. */
  age: ReadonlyMap<string, string>
  /** The same for the same keys. */
  digest: string
}

const AGE = /^AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{10,200}$/
/** Each is worked out once; nobody has a hundred. */
const MOST = 100

/** The keys in the fields of a Secret: `*.agekey` with identities of age, one a line. `origin` says of which Secret. */
export async function readKeys(fields: Readonly<Record<string, string>>, origin: string): Promise<SopsKeys> {
  // Only who has encrypted files needs it.
  const { identityToRecipient } = await import('age-encryption')
  const age = new Map<string, string>()
  for (const [field, text] of Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (!field.endsWith('.agekey')) continue
    for (const [at, line] of text.split(/\r?\n/).entries()) {
      const identity = line.trim()
      if (identity === '' || identity.startsWith('#')) continue
      // It may be part of a key: nothing of it is told.
      const bad = (what: string) => badKey(`${origin}: line ${at + 1} of ${JSON.stringify(field)} ${what}`)
      if (!AGE.test(identity)) throw bad('is no identity of age (AGE-SECRET-KEY-1… or AGE-SECRET-KEY-PQ-1…)')
      if (age.size === MOST) throw bad(`is one key too many: ${MOST} are read`)
      try {
        age.set(await identityToRecipient(identity), identity)
      } catch {
        throw bad('is a damaged identity of age')
      }
    }
  }
  if (age.size === 0) throw badKey(`${origin} has no keys: there is no field *.agekey with an identity of age in it`)
  const digest = createHash('sha256')
    .update(JSON.stringify([...age]))
    .digest('hex')
  return { origin, age, digest }
}

const badKey = (message: string): Failure =>
  new Failure('invalid', message, {
    reason: 'DecryptionKeysInvalid',
    remedy: 'Put the private key, as age-keygen writes it, into a field whose name ends with .agekey.',
  })
