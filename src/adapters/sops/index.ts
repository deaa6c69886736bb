/**
 * Reads what SOPS (https://github.com/getsops/sops) has encrypted for age: whose key opens it, whether it is what was encrypted, and the
 * values behind what stands there. All of it in memory. Not here: where files and keys come from, and what becomes of the values.
 * Read metadata.ts first, then keys.ts and data-key.ts (how the key of a file is had), values.ts (one value) and open.ts (a whole file).
 */
export { dataKeyOf } from './data-key.ts'
export { readKeys, type SopsKeys } from './keys.ts'
export { isMetadata, type Metadata, readMetadata } from './metadata.ts'
export { damagedValue, type Leaf, openAll, pathOf, type SealedFile } from './open.ts'
export { decryptValue, isEncryptedValue, macTextOf, plainValueOf } from './values.ts'
