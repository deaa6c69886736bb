import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { type Authority, createAuthority, issueCertificate, readAuthority } from '../adapters/certificates/index.ts'
import type { Kube } from '../adapters/kube/index.ts'
import { BERTH_AUTHORITY, type CoreSecret, PART_OF_BERTH, Secrets, textIn } from '../api/index.ts'
import { type Clock, Failure, hours } from '../std/index.ts'

/** How the Secrets of an installation are reached. */
export interface SecretAccess {
  kube: Pick<Kube, 'get' | 'create' | 'patch'>
  namespace: string
  clock: Pick<Clock, 'now'>
}

/** A certificate for a server. */
export interface WantedCertificate {
  secret: string
  /** Host names and addresses by which it is called, each once; the first is its common name. */
  names: readonly [string, ...string[]]
  /** What the pods name of the Secret: they wait until it is there. */
  keys: readonly string[]
}

export interface KeptSecret {
  secret: string
  /** `foreign`: somebody else put it there, and looks after it. */
  what: 'made' | 'renewed' | 'kept' | 'foreign'
  /** Of the certificate, where it is one. */
  validUntil?: Date
}

/** It signs all the others. Agents and people hold on to it, so it outlasts them. */
const AUTHORITY_LIFETIME = hours(24 * 365 * 20)
const LIFETIME = hours(24 * 90)
/** The rest is for who has to mend what keeps it from being renewed. */
const RENEWED_AFTER = 2 / 3

/** The authority of this installation, which is made where there is none. Throws `invalid` where something else is in its place. */
export async function keepAuthority(access: SecretAccess): Promise<KeptSecret & { authority: Authority }> {
  const secret = await findSecret(access, BERTH_AUTHORITY)
  const { certificate, key } = pairIn(secret)
  if (certificate === undefined && key === undefined) {
    const authority = await createAuthority(BERTH_AUTHORITY, { clock: access.clock, lifetime: AUTHORITY_LIFETIME })
    await writeSecret(access, BERTH_AUTHORITY, secret, { 'tls.crt': authority.certificate, 'tls.key': authority.key })
    return {
      authority,
      secret: BERTH_AUTHORITY,
      what: 'made',
      validUntil: new X509Certificate(authority.certificate).validToDate,
    }
  }
  const shown = readCertificate(BERTH_AUTHORITY, certificate)
  try {
    if (shown.subject !== NAME_OF_OURS) throw new Failure('invalid', `its name is ${shown.subject}`)
    const authority = await readAuthority(BERTH_AUTHORITY, { certificate: shown.toString(), key: key ?? '' })
    return { authority, secret: BERTH_AUTHORITY, what: 'kept', validUntil: shown.validToDate }
  } catch (thrown) {
    const remedy = 'To use certificates of your own, put them into kas-tls.'
    throw wrongContent(BERTH_AUTHORITY, 'is no authority that Berth made', remedy, thrown)
  }
}

/** Makes it where there is none; renews it when a third of its life is left, it is made out to other names, or of another authority. */
export async function keepCertificate(
  access: SecretAccess,
  wanted: WantedCertificate,
  authority: Authority,
): Promise<KeptSecret> {
  const { secret: name, names } = wanted
  const secret = await findSecret(access, name)
  const { shown, key } = shownIn(name, secret)
  if (shown && shown.issuer !== NAME_OF_OURS) {
    const missing = missingIn(secret, wanted)
    if (missing) throw wrongContent(name, missing, 'Put it there, beside the certificate.')
    return { secret: name, what: 'foreign', validUntil: shown.validToDate }
  }
  const isOurs = shown?.verify(publicKeyOf(authority)) && textAt(secret, 'ca.crt') === authority.certificate
  if (shown && isOurs && isPair(shown, key) && isNew(shown, access.clock.now()) && isFor(shown, names))
    return { secret: name, what: 'kept', validUntil: shown.validToDate }
  const issued = await issueCertificate(authority, requestFor(names), { clock: access.clock, lifetime: LIFETIME })
  const texts = { 'tls.crt': issued.certificate, 'tls.key': issued.key, 'ca.crt': authority.certificate }
  await writeSecret(access, name, secret, texts)
  return { secret: name, what: shown ? 'renewed' : 'made', validUntil: new X509Certificate(issued.certificate).validToDate }
}

/** A shared secret, under the key `secret`, by which programs know one another. */
export async function keepSharedSecret(access: SecretAccess, name: string): Promise<KeptSecret> {
  const secret = await findSecret(access, name)
  if (textAt(secret, 'secret') !== undefined) return { secret: name, what: 'kept' }
  await writeSecret(access, name, secret, { secret: randomBytes(32).toString('base64') })
  return { secret: name, what: 'made' }
}

/**
 * Leaves it to somebody else, and takes out the one that Berth made: with an Issuer of the namespace cert-manager would keep that until it is to be
 * renewed. Throws `invalid` as long as something is missing.
 */
export async function leaveCertificate(access: SecretAccess, wanted: WantedCertificate, to: string): Promise<KeptSecret> {
  const { secret: name } = wanted
  const secret = await findSecret(access, name)
  const { shown } = shownIn(name, secret)
  const isOurs = shown?.issuer === NAME_OF_OURS
  if (secret && isOurs) await patchSecret(access, secret, { data: { 'tls.crt': null, 'tls.key': null, 'ca.crt': null } })
  const missing = missingIn(isOurs ? undefined : secret, wanted)
  if (!missing) return { secret: name, what: 'foreign', ...(shown && { validUntil: shown.validToDate }) }
  throw new Failure('invalid', `Secret ${name} ${missing}`, { remedy: `${to} is to fill it: look there for what is in its way.` })
}

/** It is not ours to mend, but somebody should know why pods wait. */
function missingIn(secret: CoreSecret | undefined, { keys }: WantedCertificate): string | undefined {
  const missing = keys.filter((key) => textAt(secret, key) === undefined)
  return missing.length > 0 ? `lacks ${missing.join(', ')}, which pods wait for` : undefined
}

/** As Node prints the only attribute that ours have. */
const NAME_OF_OURS = `CN=${BERTH_AUTHORITY}`

const publicKeyOf = ({ certificate }: Authority) => new X509Certificate(certificate).publicKey

const requestFor = (names: WantedCertificate['names']) => ({
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
  return shown.length === names.length && names.every(has)
}

function isPair(certificate: X509Certificate, key: string | undefined): boolean {
  try {
    return key !== undefined && certificate.checkPrivateKey(createPrivateKey(key))
  } catch {
    // No key at all.
    return false
  }
}

const textAt = (secret: CoreSecret | undefined, key: string): string | undefined => secret && textIn(secret, key)

const pairIn = (secret: CoreSecret | undefined) => ({ certificate: textAt(secret, 'tls.crt'), key: textAt(secret, 'tls.key') })

/** The certificate that is in a Secret, if any, and the key beside it. */
function shownIn(name: string, secret: CoreSecret | undefined): { shown: X509Certificate | undefined; key: string | undefined } {
  const { certificate, key } = pairIn(secret)
  return { shown: certificate === undefined ? undefined : readCertificate(name, certificate), key }
}

function readCertificate(name: string, certificate: string | undefined): X509Certificate {
  try {
    return new X509Certificate(certificate ?? '')
  } catch (thrown) {
    throw wrongContent(name, 'has no certificate under tls.crt', 'Put a certificate there.', thrown)
  }
}

const wrongContent = (name: string, what: string, orElse: string, cause?: unknown): Failure =>
  new Failure('invalid', `Secret ${name} ${what}`, {
    remedy: `${orElse} Or delete ${name}, and it is made anew.`,
    cause,
  })

const findSecret = ({ kube, namespace }: SecretAccess, name: string): Promise<CoreSecret | undefined> =>
  kube.get(Secrets, { namespace, name })

async function writeSecret(
  access: SecretAccess,
  name: string,
  before: CoreSecret | undefined,
  texts: Record<string, string>,
): Promise<void> {
  if (before) return patchSecret(access, before, { stringData: texts })
  const metadata = { name, namespace: access.namespace, labels: PART_OF_BERTH }
  await access.kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, stringData: texts })
}

/** Only where it is still as it was read: whoever came first has written it. */
async function patchSecret({ kube, namespace }: SecretAccess, { metadata }: CoreSecret, change: object): Promise<void> {
  const { name, resourceVersion } = metadata
  await kube.patch(Secrets, { namespace, name }, { metadata: { resourceVersion }, ...change })
}
