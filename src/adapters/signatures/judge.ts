import { beginningOf, Failure, harmlessLine } from '../../std/index.ts'
import type { AllowedSigner } from './allowed-signers.ts'
import { partsOf } from './commit-object.ts'
import type { Keyring } from './keyring.ts'
import { isSshSignature, readSshSignature } from './ssh-signature.ts'
import type { SignatureVerdict } from './verdict.ts'

/** A commit as Git keeps it, which is what its id stands for. */
export interface CommitObject {
  readonly id: string
  readonly raw: Buffer
}

/** `now`: milliseconds since 1970. */
export async function judge({ id, raw }: CommitObject, keyring: Keyring, now: number): Promise<SignatureVerdict> {
  try {
    const { payload, signature } = partsOf(raw, id)
    if (signature === undefined) return { reason: 'CommitNotSigned', why: 'is not signed' }
    if (isSshSignature(signature)) return judgeSsh(signature, payload, keyring, now)
    const { isPgpSignature, judgePgp } = await import('./pgp.ts')
    if (isPgpSignature(signature)) return await judgePgp(signature, payload, keyring.pgp, now)
    return invalid('it is neither of SSH nor of PGP')
  } catch (thrown) {
    return invalid(beginningOf(harmlessLine(Failure.from(thrown).message), 256))
  }
}

const invalid = (why: string): SignatureVerdict => ({ reason: 'CommitSignatureInvalid', why: `has no valid signature: ${why}` })

function judgeSsh(armored: string, payload: Buffer, { ssh }: Keyring, now: number): SignatureVerdict {
  const { key, hasSigned } = readSshSignature(armored)
  const signer = `${key.type} ${key.fingerprint}`
  const allowed = ssh.get(key.fingerprint)
  if (!allowed) return { reason: 'CommitSignerNotAllowed', why: `is signed by ${signer}, which is not among the keys` }
  const current = allowed.find((one) => isCurrent(one, now))
  const [name] = (current ? [current] : allowed).map(({ principals }) => beginningOf(harmlessLine(principals), 128))
  if (!current)
    return { reason: 'CommitSignerNotAllowed', why: `is signed by ${signer} of ${name}, whose time is over or has not begun` }
  return hasSigned(payload) ? { signer: `${name} (${signer})` } : invalid(`what ${signer} of ${name} signed is not this commit`)
}

const isCurrent = (
  { after = Number.NEGATIVE_INFINITY, before = Number.POSITIVE_INFINITY }: AllowedSigner,
  now: number,
): boolean => after <= now && now < before
