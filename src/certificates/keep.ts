import { randomBytes, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { type Authority, createAuthority, issueCertificate, readAuthority } from '../adapters/certificates/index.ts'
import type { Kube } from '../adapters/kube/index.ts'
import { type CoreSecret, Secrets, textIn } from '../api/index.ts'
import { type Clock, Failure, hours } from '../std/index.ts'

/** Where the Secrets are. */
export interface Place {
  kube: Pick<Kube, 'get' | 'patch'>
  namespace: string
  clock: Pick<Clock, 'now'>
}

/** A certificate for a server. */
export interface CertificateWish {
  secret: string
  /** Host names and addresses by which it is called; the first is its common name. */
  names: readonly [string, ...string[]]
}

export interface KeptSecret {
  secret: string
  /** `foreign`: somebody else put it there, and looks after it. */
  what: 'made' | 'renewed' | 'kept' | 'foreign'
  /** Of the certificate, where it is one. */
  validUntil?: Date
}

/** Signs all the others. Agents and people hold on to it, so it outlasts them. */
const AUTHORITY = 'berth-authority'
const AUTHORITY_LIFETIME = hours(24 * 365 * 20)
const LIFETIME = hours(24 * 90)
/** The rest is for who has to mend what keeps it from being renewed. */
const RENEWED_AFTER = 2 / 3

/** Makes what is missing, and renews what has a third of its life left, or is made out to other names. */
export async function keepCertificates(place: Place, wishes: readonly CertificateWish[]): Promise<KeptSecret[]> {
  const { authority, ...kept } = await keepAuthority(place)
  const all: KeptSecret[] = [kept]
  for (const wish of wishes) all.push(await keepCertificate(place, wish, authority))
  return all
}

/** A shared secret, under the key `secret`, by which programs know one another. */
export async function keepSharedSecret(place: Place, name: string): Promise<KeptSecret> {
  const secret = await find(place, name)
  if (textIn(secret, 'secret') !== undefined) return { secret: name, what: 'kept' }
  await write(place, secret, { secret: randomBytes(32).toString('base64') })
  return { secret: name, what: 'made' }
}

async function keepAuthority(place: Place): Promise<KeptSecret & { authority: Authority }> {
  const secret = await find(place, AUTHORITY)
  const { certificate, key } = pairIn(secret)
  if (certificate === undefined && key === undefined) {
    const authority = await createAuthority(AUTHORITY, { clock: place.clock, lifetime: AUTHORITY_LIFETIME })
    await write(place, secret, { 'tls.crt': authority.certificate, 'tls.key': authority.key })
    return { authority, secret: AUTHORITY, what: 'made', validUntil: read(authority.certificate, secret).validToDate }
  }
  const shown = read(certificate, secret)
  try {
    if (shown.subject !== NAME_OF_OURS) throw new Failure('invalid', `its name is ${shown.subject}`)
    const authority = await readAuthority(AUTHORITY, { certificate: shown.toString(), key: key ?? '' })
    return { authority, secret: AUTHORITY, what: 'kept', validUntil: shown.validToDate }
  } catch (thrown) {
    const remedy = 'To use certificates of your own, put them into kas-tls.'
    throw wrongContent(secret, 'is no authority that Berth made', remedy, thrown)
  }
}

async function keepCertificate(place: Place, wish: CertificateWish, authority: Authority): Promise<KeptSecret> {
  const secret = await find(place, wish.secret)
  const { certificate } = pairIn(secret)
  const shown = certificate === undefined ? undefined : read(certificate, secret)
  if (shown && shown.issuer !== NAME_OF_OURS) return { secret: wish.secret, what: 'foreign', validUntil: shown.validToDate }
  const isOfAuthority = textIn(secret, 'ca.crt') === authority.certificate && shown?.verify(publicKeyOf(authority))
  if (shown && isOfAuthority && isNew(shown, place.clock.now()) && isFor(shown, wish.names))
    return { secret: wish.secret, what: 'kept', validUntil: shown.validToDate }
  const issued = await issueCertificate(authority, requestFor(wish), { clock: place.clock, lifetime: LIFETIME })
  await write(place, secret, { 'tls.crt': issued.certificate, 'tls.key': issued.key, 'ca.crt': authority.certificate })
  return { secret: wish.secret, what: shown ? 'renewed' : 'made', validUntil: read(issued.certificate, secret).validToDate }
}

/** As Node prints the only attribute that ours have. */
const NAME_OF_OURS = `CN=${AUTHORITY}`

const publicKeyOf = ({ certificate }: Authority) => new X509Certificate(certificate).publicKey

const requestFor = ({ names }: CertificateWish) => ({
  name: names[0],
  dnsNames: names.filter((name) => isIP(name) === 0),
  addresses: names.filter((name) => isIP(name) !== 0),
  usages: ['server'] as const,
})

const isNew = ({ validFromDate, validToDate }: X509Certificate, now: number): boolean =>
  now < validFromDate.getTime() + (validToDate.getTime() - validFromDate.getTime()) * RENEWED_AFTER

/** Made out to all of these names, and to no other. */
function isFor(certificate: X509Certificate, names: readonly string[]): boolean {
  const shown = certificate.subjectAltName?.split(', ') ?? []
  const has = (name: string) => (isIP(name) === 0 ? shown.includes(`DNS:${name}`) : certificate.checkIP(name) !== undefined)
  return shown.length === new Set(names).size && names.every(has)
}

const pairIn = (secret: CoreSecret) => ({ certificate: textIn(secret, 'tls.crt'), key: textIn(secret, 'tls.key') })

function read(certificate: string | undefined, secret: CoreSecret): X509Certificate {
  try {
    return new X509Certificate(certificate ?? '')
  } catch (thrown) {
    throw wrongContent(secret, 'has no certificate under tls.crt', 'Put a certificate there.', thrown)
  }
}

const wrongContent = ({ metadata: { namespace, name } }: CoreSecret, what: string, orElse: string, cause?: unknown): Failure =>
  new Failure('invalid', `Secret ${namespace}/${name} ${what}`, {
    remedy: `${orElse} Or take tls.crt and tls.key out of ${name}, and it is made anew.`,
    cause,
  })

async function find({ kube, namespace }: Place, name: string): Promise<CoreSecret> {
  const secret = await kube.get(Secrets, { namespace, name })
  if (secret) return secret
  throw new Failure('not-found', `there is no Secret ${namespace}/${name}`, {
    remedy: 'Apply deploy/certificates, which makes it without content.',
  })
}

/** Only where it is still as it was read: whoever came first has written it. */
async function write({ kube, namespace }: Place, { metadata }: CoreSecret, texts: Record<string, string>): Promise<void> {
  const { name, resourceVersion } = metadata
  await kube.patch(Secrets, { namespace, name }, { metadata: { resourceVersion }, stringData: texts })
}
