import { createHash } from 'node:crypto'
import { refusedFile } from './failures.ts'
import type { Metadata } from './metadata.ts'
import { decryptValue, isEncryptedValue, type Plain } from './values.ts'

/** A value of a file, as it is written there. What has the form of an encrypted one is one, whatever rule the file was encrypted by. */
export interface Leaf {
  /** The keys that lead to it, as SOPS binds a value to its place. */
  path: string
  /** Encrypted, or as it counts for the code of authentication. */
  text: string
}

/** What SOPS has encrypted as a whole, and has authenticated as a whole. */
export interface SealedFile {
  source: string
  /** As the file has it. */
  metadata: Record<string, unknown>
  /** In the order in which they stand. */
  leaves: readonly Leaf[]
}

/** With it the hash of a file begins of which only the encrypted values count (of `sops`, SHA-256). */
const ONLY_ENCRYPTED = createHash('sha256').update('sops').digest()

/** The keys to a value, as additional data: places in lists do not count. */
export const pathOf = (keys: readonly string[]): string => `${keys.join(':')}:`

/** All encrypted values, by what stands there; refuses a file in which one was changed, moved, added or removed since it was encrypted. */
export function openAll({ source, leaves }: SealedFile, metadata: Metadata, dataKey: Uint8Array): Map<string, Plain> {
  const hash = createHash('sha512')
  if (metadata.macOnlyEncrypted) hash.update(ONLY_ENCRYPTED)
  const found = new Map<string, Plain>()
  for (const { path, text } of leaves) {
    if (!isEncryptedValue(text)) {
      if (!metadata.macOnlyEncrypted) hash.update(text)
      continue
    }
    const plain = decryptValue(text, dataKey, path)
    if (!plain) throw damagedValue(source, path)
    found.set(text, plain)
    if (plain.type !== 'comment') hash.update(plain.bytes)
  }
  const mac = isEncryptedValue(metadata.mac) ? decryptValue(metadata.mac, dataKey, metadata.lastModified) : undefined
  if (mac?.bytes.toString('utf8').toUpperCase() !== hash.digest('hex').toUpperCase())
    throw refusedFile(
      source,
      'was changed after it was encrypted: its values do not fit its code of authentication (sops.mac)',
      'Change it with `sops`, or bring back what was encrypted.',
    )
  return found
}

export const damagedValue = (source: string, path: string): Error =>
  refusedFile(
    source,
    `the value at ${JSON.stringify(path.slice(0, 200).replace(/:$/, '').replaceAll(':', '.'))} is damaged, or was moved there from another place`,
    'Change the file with `sops`.',
  )
