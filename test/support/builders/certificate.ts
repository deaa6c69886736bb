import { generateKeyPairSync, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

export interface Certificate {
  key: string
  cert: string
}

/** Made out for these names and IPv4 addresses, and its own authority. For nobody it is enough for a client that does not look. */
export function selfSigned(...names: string[]): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const nobody = der(0x30)
  const validity = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')))
  const version = names.length > 0 ? [der(0xa0, der(0x02, Buffer.of(2)))] : []
  const facts = der(
    0x30,
    ...version,
    der(0x02, Buffer.of(1)),
    ED25519,
    nobody,
    validity,
    nobody,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(names.length > 0 ? [der(0xa3, der(0x30, alternatives(names)))] : []),
  )
  const signature = der(0x03, Buffer.of(0), sign(null, facts, privateKey))
  const body = der(0x30, facts, ED25519, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
  }
}

const ED25519 = Buffer.from('300506032b6570', 'hex')
/** Critical, as it must be where the subject is empty. */
const ALTERNATIVE_NAMES = Buffer.from('0603551d110101ff', 'hex')

function alternatives(names: string[]): Buffer {
  const one = (name: string) =>
    isIPv4(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name))
  return der(0x30, ALTERNATIVE_NAMES, der(0x04, der(0x30, ...names.map(one))))
}

/** One element of ASN.1; none here is longer than 65,535 bytes. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const { length } = Buffer.concat(parts)
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(tag, ...size), ...parts])
}
