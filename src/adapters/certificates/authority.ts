import { createPrivateKey, KeyObject, randomBytes, webcrypto, X509Certificate } from 'node:crypto'
import { Integer, OctetString, Utf8String } from 'asn1js'
import ipaddr from 'ipaddr.js'
import { AltName, AttributeTypeAndValue, BasicConstraints, Certificate, Extension, ExtKeyUsage, GeneralName } from 'pkijs'
import { type Clock, Failure, minutes } from '../../std/index.ts'

/** A certificate with its key, as PEM. */
export interface KeyAndCertificate {
  certificate: string
  key: string
}

/** Signs the certificates of others. */
export interface Authority extends KeyAndCertificate {
  name: string
  signingKey: webcrypto.CryptoKey
}

export interface CertificateRequest {
  /** The common name; to Kubernetes, the user. */
  name: string
  /** To Kubernetes, the user's groups. */
  organizations?: readonly string[]
  dnsNames?: readonly string[]
  /** IPv4 and IPv6 addresses. */
  addresses?: readonly string[]
  usages: readonly Usage[]
}

type Usage = 'server' | 'client'

interface Validity {
  clock: Pick<Clock, 'now'>
  /** Milliseconds. */
  lifetime: number
}

const KEYS = { name: 'ECDSA', namedCurve: 'P-256' }

/** An authority of its own that signs for programs, and for no other authority. */
export async function createAuthority(name: string, validity: Validity): Promise<Authority> {
  const keys = await createKeys()
  const basics = new BasicConstraints({ cA: true, pathLenConstraint: 0 })
  const unsigned = certificateFor({ name }, name, validity)
  unsigned.extensions = [extension(BASIC_CONSTRAINTS, basics, { critical: true })]
  const certificate = await sign(unsigned, keys.publicKey, keys.privateKey)
  return { name, certificate, key: pemOfKey(keys), signingKey: keys.privateKey }
}

/** One that was made by `createAuthority`. Throws, by whatever Node throws, where these are not PEM of a certificate and of the key to it. */
export async function readAuthority(name: string, { certificate, key }: KeyAndCertificate): Promise<Authority> {
  const privateKey = createPrivateKey(key)
  if (!new X509Certificate(certificate).checkPrivateKey(privateKey))
    throw new Failure('invalid', 'the key is one to another certificate')
  const bytes = privateKey.export({ type: 'pkcs8', format: 'der' })
  const signingKey = await webcrypto.subtle.importKey('pkcs8', bytes, KEYS, true, ['sign'])
  return { name, certificate, key, signingKey }
}

/** A certificate for a program, with a key of its own. */
export async function issueCertificate(
  authority: Authority,
  request: CertificateRequest,
  validity: Validity,
): Promise<KeyAndCertificate> {
  const keys = await createKeys()
  const { dnsNames = [], addresses = [], usages } = request
  const names = [
    ...dnsNames.map((value) => new GeneralName({ type: DNS_NAME, value })),
    ...addresses.map((address) => new GeneralName({ type: IP_ADDRESS, value: new OctetString({ valueHex: bytesOf(address) }) })),
  ]
  const unsigned = certificateFor(request, authority.name, validity)
  unsigned.extensions = [
    extension(BASIC_CONSTRAINTS, new BasicConstraints({ cA: false }), { critical: true }),
    extension(EXTENDED_KEY_USAGE, new ExtKeyUsage({ keyPurposes: usages.map((usage) => PURPOSES[usage]) })),
    ...(names.length > 0 ? [extension(SUBJECT_ALTERNATIVE_NAME, new AltName({ altNames: names }))] : []),
  ]
  return { certificate: await sign(unsigned, keys.publicKey, authority.signingKey), key: pemOfKey(keys) }
}

/** A clock that is a little behind must not find a certificate that is not valid yet. */
const BACKDATED = minutes(5)

function certificateFor(
  { name, organizations = [] }: Pick<CertificateRequest, 'name' | 'organizations'>,
  issuer: string,
  { clock, lifetime }: Validity,
): Certificate {
  const certificate = new Certificate()
  certificate.version = V3
  certificate.serialNumber = new Integer({ valueHex: serialNumber() })
  certificate.issuer.typesAndValues.push(attribute(COMMON_NAME, issuer))
  for (const organization of organizations) certificate.subject.typesAndValues.push(attribute(ORGANIZATION, organization))
  certificate.subject.typesAndValues.push(attribute(COMMON_NAME, name))
  certificate.notBefore.value = new Date(clock.now() - BACKDATED)
  certificate.notAfter.value = new Date(clock.now() + lifetime)
  return certificate
}

async function sign(certificate: Certificate, publicKey: webcrypto.CryptoKey, signingKey: webcrypto.CryptoKey): Promise<string> {
  await certificate.subjectPublicKeyInfo.importKey(publicKey)
  await certificate.sign(signingKey, 'SHA-256')
  return new X509Certificate(Buffer.from(certificate.toSchema().toBER())).toString()
}

const createKeys = (): Promise<webcrypto.CryptoKeyPair> => webcrypto.subtle.generateKey(KEYS, true, ['sign', 'verify'])

const pemOfKey = ({ privateKey }: webcrypto.CryptoKeyPair): string =>
  KeyObject.from(privateKey).export({ type: 'pkcs8', format: 'pem' }).toString()

/** Positive, as RFC 5280 wants it: the highest bit is the sign. */
function serialNumber(): ArrayBuffer {
  const bytes = Uint8Array.from(randomBytes(16))
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes.buffer
}

const bytesOf = (address: string): ArrayBuffer => Uint8Array.from(ipaddr.parse(address).toByteArray()).buffer

const attribute = (type: string, value: string): AttributeTypeAndValue =>
  new AttributeTypeAndValue({ type, value: new Utf8String({ value }) })

const extension = (extnID: string, value: BasicConstraints | ExtKeyUsage | AltName, { critical = false } = {}): Extension =>
  new Extension({ extnID, critical, extnValue: value.toSchema().toBER() })

// RFC 5280.
const V3 = 2
const COMMON_NAME = '2.5.4.3'
const ORGANIZATION = '2.5.4.10'
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17'
const BASIC_CONSTRAINTS = '2.5.29.19'
const EXTENDED_KEY_USAGE = '2.5.29.37'
const PURPOSES: Record<Usage, string> = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' }
const DNS_NAME = 2
const IP_ADDRESS = 7
