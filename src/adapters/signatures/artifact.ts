import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import { beginningOf, Failure, harmlessLine, isRecord, recordIn, withoutEnd } from '../../std/index.ts'
import type { PushedSignature } from '../artifacts/index.ts'
import type { SignatureVerdict } from './verdict.ts'

/** A key by which artifacts may be signed, as `cosign generate-key-pair` writes it. */
export interface ArtifactKey {
  /** The file, and which key it is. */
  readonly name: string
  readonly key: KeyObject
  /** Of those, one is what was signed by; `null`: the key has its own. */
  readonly hashes: readonly (string | null)[]
}

/** Cosign takes SHA-256 with every curve, other programs of Sigstore that of its size. */
const HASHES: Readonly<Record<string, ArtifactKey['hashes']>> = {
  prime256v1: ['sha256'],
  secp384r1: ['sha256', 'sha384'],
  secp521r1: ['sha256', 'sha512'],
  ed25519: [null],
  rsa: ['sha256'],
}

/** Reads a public key in PEM. Throws `invalid` for another text, and for a key that is too weak, or too large to be asked often. */
export function readArtifactKey(text: string, name: string): ArtifactKey {
  if (/PRIVATE KEY/.test(text)) throw unfit('it is a private key: take it out at once, and name the public one')
  if (text.split('-----BEGIN ').length > 2) throw unfit('it has several keys: write each into a file of its own')
  const key = publicKeyIn(text)
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {}
  const hashes = HASHES[namedCurve ?? key.asymmetricKeyType ?? '']
  const isOfSize = modulusLength === undefined || (modulusLength >= 2048 && modulusLength <= 4096)
  if (!hashes || !isOfSize) throw unfit('keys are ECDSA (P-256, P-384, P-521), Ed25519, or RSA of 2048 to 4096 bits')
  const fingerprint = createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64')
  return { name: `${name} (${key.asymmetricKeyType} SHA256:${withoutEnd(fingerprint, '=')})`, key, hashes }
}

function publicKeyIn(text: string): KeyObject {
  try {
    return createPublicKey(text)
  } catch {
    throw unfit('it is no public key in PEM, as `cosign public-key` writes it')
  }
}

const unfit = (why: string): Failure => new Failure('invalid', why)

/** Whether one of the keys has signed the artifact of that digest (64 hexadecimal digits). All that was pushed is a stranger's. */
export async function judgeArtifact(
  digest: string,
  pushed: readonly PushedSignature[],
  keys: readonly ArtifactKey[],
): Promise<SignatureVerdict<'Artifact'>> {
  if (pushed.length === 0) return { reason: 'ArtifactNotSigned', why: 'is not signed' }
  let other: string | undefined
  for (const one of pushed) {
    const statement = 'signature' in one && one.signature !== undefined ? simpleIn(one) : bundleIn(one)
    if (!statement) continue
    for (const key of keys) {
      await breathe()
      if (!statement.signatures.some((signature) => hasSigned(key, statement.signed, signature))) continue
      if (statement.digests.includes(digest)) return { signer: beginningOf(harmlessLine(key.name), 512) }
      other = key.name
    }
  }
  return other === undefined
    ? { reason: 'ArtifactSignerNotAllowed', why: 'is signed, but by none of the keys' }
    : { reason: 'ArtifactSignatureInvalid', why: `has no valid signature: what ${other} signed is not this artifact` }
}

/** What was signed, by whatever keys, and which artifacts it speaks of. */
interface Statement {
  signed: Buffer
  signatures: Buffer[]
  digests: unknown[]
}

/** https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md */
function simpleIn({ content, signature = '' }: PushedSignature): Statement {
  const critical = recordAt(recordIn(content.toString('utf8')), 'critical')
  const named = recordAt(critical, 'image')?.['docker-manifest-digest']
  const digests = typeof named === 'string' && named.startsWith('sha256:') ? [named.slice('sha256:'.length)] : []
  return { signed: content, signatures: [Buffer.from(signature, 'base64')], digests }
}

/** That of `cosign sign`: with the same key other things are said of artifacts, such as which mistakes are in them. */
const SIGNED = 'https://sigstore.dev/cosign/sign/v1'
const IN_TOTO = 'application/vnd.in-toto+json'
const MOST_IN_ENVELOPE = 8

/** https://github.com/sigstore/cosign/blob/main/specs/BUNDLE_SPEC.md, https://github.com/secure-systems-lab/dsse/blob/master/envelope.md */
function bundleIn({ content }: PushedSignature): Statement | undefined {
  const envelope = recordAt(recordIn(content.toString('utf8')), 'dsseEnvelope')
  const { payload, payloadType, signatures } = envelope ?? {}
  if (typeof payload !== 'string' || payloadType !== IN_TOTO || !Array.isArray(signatures)) return undefined
  const said = Buffer.from(payload, 'base64')
  const { predicateType, subject } = recordIn(said.toString('utf8')) ?? {}
  if (predicateType !== SIGNED || !Array.isArray(subject)) return undefined
  const made = signatures
    .slice(0, MOST_IN_ENVELOPE)
    .flatMap((one) => (isRecord(one) && typeof one.sig === 'string' ? [one.sig] : []))
  return {
    signed: Buffer.concat([Buffer.from(`DSSEv1 ${IN_TOTO.length} ${IN_TOTO} ${said.length} `), said]),
    signatures: made.map((one) => Buffer.from(one, 'base64')),
    digests: subject.map((one) => (isRecord(one) ? recordAt(one, 'digest')?.sha256 : undefined)),
  }
}

function recordAt(record: Record<string, unknown> | undefined, field: string): Record<string, unknown> | undefined {
  const value = record?.[field]
  return isRecord(value) ? value : undefined
}

function hasSigned({ key, hashes }: ArtifactKey, signed: Buffer, signature: Buffer): boolean {
  return hashes.some((hash) => verify(hash, signed, key, signature))
}
