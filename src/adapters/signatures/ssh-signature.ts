import { Failure } from '../../std/index.ts'
import { wireReader } from '../ssh/index.ts'
import { type SshPublicKey, signedBytes, sshKeyFrom } from './ssh-key.ts'

const BEGIN = '-----BEGIN SSH SIGNATURE-----'
const END = '-----END SSH SIGNATURE-----'
const MAGIC = 'SSHSIG'
/** Git signs for this; a signature that was made for anything else, such as a file or an e-mail, is none of a commit. */
export const NAMESPACE = 'git'

export interface SshSignature {
  /** By which it says to be made. */
  readonly key: SshPublicKey
  hasSigned(message: Buffer): boolean
}

export const isSshSignature = (text: string): boolean => text.startsWith(BEGIN)

/** Throws `invalid` for whatever is no signature of a commit. */
export function readSshSignature(armored: string): SshSignature {
  const bytes = unarmored(armored)
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new Failure('invalid', 'it is none of SSH')
  const reader = wireReader(bytes.subarray(MAGIC.length))
  if (reader.uint32() !== 1) throw new Failure('invalid', 'it is of another version')
  const key = sshKeyFrom(reader.bytes())
  const namespace = reader.text()
  const reserved = reader.text()
  const hash = reader.text()
  const signature = reader.bytes()
  if (!reader.isAtEnd) throw new Failure('invalid', 'there is more behind it')
  if (namespace !== NAMESPACE)
    throw new Failure('invalid', `it was made for ${JSON.stringify(namespace.slice(0, 64))}, and not for ${NAMESPACE}`)
  if (hash !== 'sha256' && hash !== 'sha512') throw new Failure('invalid', 'its digest is neither sha256 nor sha512')
  return { key, hasSigned: (message) => key.hasSigned(signedBytes(message, { namespace, reserved, hash }), signature) }
}

/** Nothing but lines of base64 between one beginning and one end. */
function unarmored(text: string): Buffer {
  const lines = text.split('\n')
  const body = lines.slice(1, -1).join('')
  if (lines[0] !== BEGIN || lines.at(-1) !== END || !/^[A-Za-z0-9+/]+={0,2}$/.test(body))
    throw new Failure('invalid', 'it is not written as ssh-keygen writes it')
  return Buffer.from(body, 'base64')
}
