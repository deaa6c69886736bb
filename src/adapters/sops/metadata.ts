import { beginningOf, isRecord } from '../../std/index.ts'
import { refusedFile } from './failures.ts'

/** For whom a file is encrypted, and the data key as only that one can read it. */
export interface SopsRecipient {
  kind: 'age' | 'pgp'
  /** The recipient of age, or the fingerprint of the key. */
  name: string
  enc: string
}

/** What SOPS says of a file in the file. */
export interface Metadata {
  recipients: readonly SopsRecipient[]
  /** The code of authentication over the file, itself encrypted. It is another one for each file. */
  mac: string
  lastModified: string
  /** Whether only what is encrypted counts for it. */
  macOnlyEncrypted: boolean
}

/** By the names that SOPS gives them in a file. */
const SERVICES: Record<string, string> = {
  kms: 'AWS KMS',
  gcp_kms: 'Google Cloud KMS',
  azure_kv: 'Azure Key Vault',
  hc_vault: 'HashiCorp Vault',
  hckms: 'Huawei Cloud KMS',
}

/** A data key that is encrypted for the largest of recipients takes 3 KiB. */
const MOST_ENC = 16 * 2 ** 10
/** No more is even looked at. */
const MOST_RECIPIENTS = 10_000

export const isMetadata = (value: unknown): value is Record<string, unknown> => isRecord(value) && 'mac' in value

/** `source` is for what is said of a file that cannot be read. */
export function readMetadata(value: Record<string, unknown>, source: string): Metadata {
  const recipients = [...recipientsIn(value.age, 'age', 'recipient'), ...recipientsIn(value.pgp, 'pgp', 'fp')]
  if (recipients.length > MOST_RECIPIENTS)
    throw refusedFile(source, `is encrypted for more than ${MOST_RECIPIENTS} recipients`, 'Encrypt it for fewer.')
  if (recipients.length === 0) throw withoutRecipients(value, source)
  const { mac, lastmodified, mac_only_encrypted: only } = value
  if (typeof mac !== 'string' || typeof lastmodified !== 'string')
    throw refusedFile(source, 'has no sops.mac and sops.lastmodified that are texts', 'Encrypt it anew.')
  return { recipients, mac, lastModified: utc(lastmodified), macOnlyEncrypted: only === true || only === 'true' || only === '1' }
}

function* recipientsIn(list: unknown, kind: SopsRecipient['kind'], field: string): Generator<SopsRecipient, void> {
  if (!Array.isArray(list)) return
  for (const entry of list) {
    if (!isRecord(entry)) continue
    const { enc, [field]: name } = entry
    if (typeof name !== 'string' || typeof enc !== 'string' || enc.length > MOST_ENC) continue
    yield { kind, name, enc }
  }
}

function withoutRecipients(value: Record<string, unknown>, source: string): Error {
  if (Array.isArray(value.key_groups) && value.key_groups.length > 0)
    return refusedFile(
      source,
      'is encrypted for groups of keys (sops.key_groups), of which several are needed at once (Shamir), and they are not read here',
      'Encrypt it for one group.',
    )
  const services = Object.entries(SERVICES).filter(([field]) => {
    const { [field]: list } = value
    return Array.isArray(list) && list.length > 0
  })
  const named = services.map(([, name]) => name).join(', ')
  return refusedFile(
    source,
    named === ''
      ? 'is encrypted for nobody: sops.age and sops.pgp are empty'
      : `is encrypted by ${beginningOf(named, 200)} alone`,
    'Only age and PGP keys are read here: encrypt it for one of them as well (`sops updatekeys`).',
  )
}

/** As Go writes a time that it has read: the code of authentication is bound to that text. */
const utc = (time: string): string => (time.endsWith('+00:00') ? `${time.slice(0, -6)}Z` : time)
