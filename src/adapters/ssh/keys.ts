import { createPublicKey } from 'node:crypto'
import ssh2 from 'ssh2'
import { Failure, Secret } from '../../std/index.ts'
import type { PublicKey } from './door.ts'

/** A key of ed25519, such as the one by which clients know the server. */
export interface KeyPair {
  /** As OpenSSH keeps private keys. */
  readonly secret: Secret<string>
  /** The public half, as a line of known_hosts has it behind the host: `ssh-ed25519 AAAA…`. */
  readonly line: string
}

/** Of the keys that the library makes, three of a thousand are such that it cannot read them itself: another one is made then. */
export function createKeyPair(): KeyPair {
  while (true) {
    const { private: text, public: line } = ssh2.utils.generateKeyPairSync('ed25519')
    if (!(ssh2.utils.parseKey(text) instanceof Error)) return { secret: new Secret(text), line: line.trim() }
  }
}

/** Reads what `createKeyPair` made. Throws `invalid` for anything else. */
export function keyPairFrom(secret: Secret<string>): KeyPair {
  const key = ssh2.utils.parseKey(secret.reveal())
  if (key instanceof Error || key.type !== 'ssh-ed25519' || !key.isPrivateKey())
    throw new Failure('invalid', 'it is no private key of ed25519')
  return { secret, line: `${key.type} ${key.getPublicSSH().toString('base64')}` }
}

const LEAST_BITS_OF_RSA = 2048

type ShownKey = ReturnType<typeof readShown>

/** Reads the key that a client shows; `undefined` for one that is not good enough for anybody. */
export function readShown({ algo, data }: { algo: string; data: Buffer }) {
  const parsed = ssh2.utils.parseKey(`${algo} ${data.toString('base64')}`)
  if (parsed instanceof Error || Array.isArray(parsed)) return
  const key: PublicKey = { type: parsed.type, blob: parsed.getPublicSSH().toString('base64') }
  if (key.type === 'ssh-dss') return
  if (key.type === 'ssh-rsa' && bitsOf(parsed.getPublicPEM()) < LEAST_BITS_OF_RSA) return
  return { key, parsed }
}

const bitsOf = (pem: string): number => createPublicKey(pem).asymmetricKeyDetails?.modulusLength ?? 0

/** Whether the client has the private half. A signature of RSA with SHA-1 proves nothing. */
export function isProof(shown: NonNullable<ShownKey>, { signature, blob, hashAlgo }: Signed): boolean {
  if (!signature || !blob || (shown.key.type === 'ssh-rsa' && hashAlgo === undefined)) return false
  // It answers with an error where the signature cannot be read.
  return shown.parsed.verify(blob, signature, hashAlgo) === true
}

interface Signed {
  signature?: Buffer
  blob?: Buffer
  hashAlgo?: string
}
