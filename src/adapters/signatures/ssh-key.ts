import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { Failure } from '../../std/index.ts'
import { strings, type WireReader, wireReader } from '../ssh/index.ts'

/** A public key of OpenSSH. */
export interface SshPublicKey {
  readonly type: string
  /** As `ssh-keygen -l` shows it. */
  readonly fingerprint: string
  /** Whether its private half has signed these bytes; `signature` as OpenSSH has it on the wire. */
  hasSigned(data: Buffer, signature: Buffer): boolean
}

const LEAST_BITS_OF_RSA = 2048
/** Hardly anybody has a larger one, and each signature by it would cost more than its share. */
const MOST_BITS_OF_RSA = 8192
const MOST_BYTES_OF_EXPONENT = 4

/** Throws `invalid` for what is no key, and for one that is not good enough. */
export function sshKeyFrom(blob: Buffer): SshPublicKey {
  const reader = wireReader(blob)
  const type = reader.text()
  const read = TYPES[type]
  if (!read) throw new Failure('invalid', `keys of type ${JSON.stringify(type.slice(0, 64))} are not supported`)
  const hasSigned = read(reader)
  if (!reader.isAtEnd) throw new Failure('invalid', 'there is more behind the key')
  const fingerprint = `SHA256:${createHash('sha256').update(blob).digest('base64').replaceAll('=', '')}`
  return {
    type,
    fingerprint,
    hasSigned(data, signature) {
      const parts = wireReader(signature)
      return hasSigned(data, { type: parts.text(), bytes: parts.bytes(), rest: signature.subarray(parts.at) })
    },
  }
}

interface SignatureParts {
  type: string
  bytes: Buffer
  /** Only security keys say more. */
  rest: Buffer
}

type HasSigned = (data: Buffer, signature: SignatureParts) => boolean

const TYPES: Readonly<Record<string, (reader: WireReader) => HasSigned>> = {
  'ssh-ed25519': (reader) => plain('ssh-ed25519', edwards(reader)),
  'ssh-rsa': rsa,
  'ecdsa-sha2-nistp256': (reader) => plain('ecdsa-sha2-nistp256', elliptic(reader, P256)),
  'ecdsa-sha2-nistp384': (reader) => plain('ecdsa-sha2-nistp384', elliptic(reader, P384)),
  'ecdsa-sha2-nistp521': (reader) => plain('ecdsa-sha2-nistp521', elliptic(reader, P521)),
  'sk-ssh-ed25519@openssh.com': (reader) => touched('sk-ssh-ed25519@openssh.com', edwards(reader), reader),
  'sk-ecdsa-sha2-nistp256@openssh.com': (reader) => touched('sk-ecdsa-sha2-nistp256@openssh.com', elliptic(reader, P256), reader),
}

type Check = (data: Buffer, signature: Buffer) => boolean

const plain =
  (wanted: string, check: Check): HasSigned =>
  (data, { type, bytes, rest }) =>
    type === wanted && rest.length === 0 && check(data, bytes)

const TOUCHED = 1

/** Security keys sign a digest of what they are to sign, and say that somebody has touched them. */
function touched(wanted: string, check: Check, reader: WireReader): HasSigned {
  const application = sha256(reader.bytes())
  return (data, { type, bytes, rest }) => {
    if (type !== wanted || rest.length !== 5 || ((rest[0] ?? 0) & TOUCHED) === 0) return false
    return check(Buffer.concat([application, rest, sha256(data)]), bytes)
  }
}

const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest()

function edwards(reader: WireReader): Check {
  const point = reader.bytes()
  if (point.length !== 32) throw new Failure('invalid', 'the key is none of ed25519')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') }, format: 'jwk' })
  return (data, signature) => verify(null, data, key, signature)
}

interface Curve {
  name: string
  crv: string
  hash: string
  bytes: number
}

const P256: Curve = { name: 'nistp256', crv: 'P-256', hash: 'sha256', bytes: 32 }
const P384: Curve = { name: 'nistp384', crv: 'P-384', hash: 'sha384', bytes: 48 }
const P521: Curve = { name: 'nistp521', crv: 'P-521', hash: 'sha512', bytes: 66 }

function elliptic(reader: WireReader, { name, crv, hash, bytes }: Curve): Check {
  const curve = reader.text()
  const point = reader.bytes()
  if (curve !== name || point.length !== 1 + 2 * bytes || point[0] !== 4)
    throw new Failure('invalid', `the key is none of ${name}`)
  const [x, y] = [point.subarray(1, 1 + bytes), point.subarray(1 + bytes)].map((half) => half.toString('base64url'))
  const key = keyOrRefuse({ kty: 'EC', crv, x, y })
  return (data, signature) => {
    const numbers = wireReader(signature)
    const both = [padded(numbers.bytes(), bytes), padded(numbers.bytes(), bytes)]
    return numbers.isAtEnd && verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, Buffer.concat(both))
  }
}

function rsa(reader: WireReader): HasSigned {
  const [e, n] = [reader.bytes(), reader.bytes()]
  if (n.length * 8 > MOST_BITS_OF_RSA + 8 || e.length > MOST_BYTES_OF_EXPONENT)
    throw new Failure('invalid', 'the key of RSA is too large')
  const key = keyOrRefuse({ kty: 'RSA', e: e.toString('base64url'), n: n.toString('base64url') })
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  if (bits < LEAST_BITS_OF_RSA) throw new Failure('invalid', `a key of RSA needs ${LEAST_BITS_OF_RSA} bits, and has ${bits}`)
  // One with SHA-1 proves nothing.
  const hashes: Readonly<Record<string, string>> = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' }
  return (data, { type, bytes, rest }) => {
    const hash = hashes[type]
    return hash !== undefined && rest.length === 0 && verify(hash, data, key, padded(bytes, Math.ceil(bits / 8)))
  }
}

function keyOrRefuse(key: { kty: string; [field: string]: string | undefined }): KeyObject {
  try {
    return createPublicKey({ key, format: 'jwk' })
  } catch (thrown) {
    throw new Failure('invalid', 'the key is no valid one', { cause: thrown })
  }
}

/** Numbers on the wire lose the zeros before them, and get one where they would be negative. */
function padded(number: Buffer, bytes: number): Buffer {
  const digits = number[0] === 0 ? number.subarray(1) : number
  if (digits.length > bytes) throw new Failure('invalid', 'a number in it is too large')
  return Buffer.concat([Buffer.alloc(bytes - digits.length), digits])
}

/** The bytes over which OpenSSH signs a message: https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig */
export function signedBytes(
  message: Buffer,
  { namespace, reserved, hash }: Record<'namespace' | 'reserved' | 'hash', string>,
): Buffer {
  const digest = createHash(hash).update(message).digest()
  return Buffer.concat([Buffer.from('SSHSIG'), strings(namespace, reserved, hash, digest)])
}
