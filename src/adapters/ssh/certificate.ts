import { randomBytes } from 'node:crypto'
import ssh2, { type ParsedKey } from 'ssh2'
import { Failure } from '../../std/index.ts'
import type { PublicKey, UserCertificate } from './door.ts'
import type { KeyPair } from './keys.ts'
import { strings, uint32, uint64, type WireReader, wireReader } from './wire.ts'

/** Certificates of OpenSSH for keys of ed25519 (PROTOCOL.certkeys); there are no others here. */
export const CERTIFICATE_TYPE = 'ssh-ed25519-cert-v01@openssh.com'
const KEY_TYPE = 'ssh-ed25519'

/** A larger one is nobody's: of all that is in it the groups of a person are the most. */
const MOST_BYTES = 24 * 1024
const MOST_PRINCIPALS = 16
const MOST_OPTIONS = 16

const USER = 1

/** Has the authority sign. Gives the certificate as the second word of a line, and the number by which logs know it. */
export function signCertificate(
  authority: KeyPair,
  certificate: Omit<UserCertificate, 'serial' | 'criticalOptions'>,
): { text: string; serial: bigint } {
  const { key, keyId, principals, since, until, extensions } = certificate
  const signer = parsed(authority.secret.reveal())
  const serial = randomBytes(8).readBigUInt64BE()
  const body = Buffer.concat([
    strings(CERTIFICATE_TYPE, randomBytes(32), pointOf(key)),
    ...[uint64(serial), uint32(USER)],
    strings(keyId, strings(...principals)),
    ...[uint64(BigInt(Math.floor(since / 1000))), uint64(BigInt(Math.floor(until / 1000)))],
    strings('', optionsWith(extensions), ''),
    strings(signer.getPublicSSH()),
  ])
  const signature = signer.sign(body)
  if (signature instanceof Error) throw Failure.from(signature)
  return { text: Buffer.concat([body, strings(strings(KEY_TYPE, signature))]).toString('base64'), serial }
}

/** The certificate, if that authority has signed it, to the last byte; else why it is none. `authority` as a line has it. */
export function readCertificate(data: Buffer, authority: string): UserCertificate | string {
  try {
    const { certificate, signer, body, signature } = partsOf(data)
    const [type, blob = ''] = authority.split(' ')
    if (type !== KEY_TYPE || !signer.equals(Buffer.from(blob, 'base64'))) return 'another authority signed it'
    return isSignedBy(parsed(authority), body, signature) ? certificate : 'its signature is wrong'
  } catch (thrown) {
    return Failure.from(thrown).message
  }
}

/** What it says, whoever has signed it: for whoever is given one, and lets nobody in by it. Throws `invalid` for anything else. */
export const readUnprovedCertificate = (data: Buffer): UserCertificate => partsOf(data).certificate

function partsOf(data: Buffer) {
  if (data.length > MOST_BYTES) throw new Failure('invalid', 'it is too long')
  const reader = wireReader(data)
  if (reader.text() !== CERTIFICATE_TYPE) throw new Failure('invalid', 'it is of another type')
  reader.bytes()
  const key = { type: KEY_TYPE, blob: strings(KEY_TYPE, reader.bytes()).toString('base64') }
  pointOf(key)
  const serial = reader.uint64()
  if (reader.uint32() !== USER) throw new Failure('invalid', 'it is for no user')
  const keyId = reader.text()
  const principals = listIn(reader.bytes())
  const [since, until] = [timeIn(reader), timeIn(reader)]
  const criticalOptions = optionsIn(reader.bytes())
  const extensions = optionsIn(reader.bytes())
  reader.bytes()
  const signer = reader.bytes()
  const body = data.subarray(0, reader.at)
  const signature = reader.bytes()
  if (!reader.isAtEnd) throw new Failure('invalid', 'there is more behind it')
  const certificate = { key, serial, keyId, principals, since, until, criticalOptions, extensions }
  return { certificate, signer, body, signature }
}

/** Whether the client has the private half of the key in the certificate; the signature is of the plain key, as OpenSSH has it. */
export function isHeld({ key }: UserCertificate, { signature, blob }: { signature?: Buffer; blob?: Buffer }): boolean {
  return signature !== undefined && blob !== undefined && isSignedBy(parsed(`${key.type} ${key.blob}`), blob, signature)
}

const SIGNATURE_BYTES = 64

function isSignedBy(key: ParsedKey, body: Buffer, signature: Buffer): boolean {
  const head = strings(KEY_TYPE, Buffer.alloc(SIGNATURE_BYTES)).subarray(0, -SIGNATURE_BYTES)
  const isOfType = signature.length === head.length + SIGNATURE_BYTES && signature.subarray(0, head.length).equals(head)
  // It answers with an error where the signature cannot be read.
  return isOfType && key.verify(body, signature.subarray(head.length)) === true
}

function parsed(text: string): ParsedKey {
  const key = ssh2.utils.parseKey(text)
  if (key instanceof Error || Array.isArray(key) || key.type !== KEY_TYPE)
    throw new Failure('invalid', 'it has a key that is none of ed25519')
  return key
}

/** The 32 bytes of the key itself. */
function pointOf({ type, blob }: PublicKey): Buffer {
  const reader = wireReader(Buffer.from(blob, 'base64'))
  const [name, point] = [reader.text(), reader.bytes()]
  if (type === KEY_TYPE && name === KEY_TYPE && point.length === 32 && reader.isAtEnd) return point
  throw new Failure('invalid', 'the key is none of ed25519')
}

/** The end of time, which certificates without an end have, is no date. */
function timeIn(reader: WireReader): number {
  const time = reader.uint64() * 1000n
  if (time > BigInt(Number.MAX_SAFE_INTEGER)) throw new Failure('invalid', 'it has no end')
  return Number(time)
}

function listIn(bytes: Buffer): string[] {
  const reader = wireReader(bytes)
  const found: string[] = []
  while (!reader.isAtEnd) {
    if (found.length >= MOST_PRINCIPALS) throw new Failure('invalid', 'it has too many principals')
    found.push(reader.text())
  }
  return found
}

/** In the order of their names; what one says is a string in a string, as OpenSSH has it. */
const optionsWith = (options: ReadonlyMap<string, string>): Buffer =>
  strings(
    ...[...options]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([name, value]) => [name, value === '' ? '' : strings(value)]),
  )

/** Each once, and in order. */
function optionsIn(bytes: Buffer): Map<string, string> {
  const reader = wireReader(bytes)
  const found = new Map<string, string>()
  let last = ''
  while (!reader.isAtEnd) {
    const name = reader.text()
    const value = wireReader(reader.bytes())
    if (found.size >= MOST_OPTIONS || name <= last) throw new Failure('invalid', 'its options are not in order, or too many')
    found.set(name, value.isAtEnd ? '' : value.text())
    if (!value.isAtEnd) throw new Failure('invalid', 'there is more in an option than it says')
    last = name
  }
  return found
}
