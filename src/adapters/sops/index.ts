/**
 * Reads what SOPS (https://github.com/getsops/sops) has encrypted for age and PGP: whose key opens it, whether it is what was encrypted, and the
 * values behind what stands there. All of it in memory. Not here: where files and keys come from, and what becomes of the values.
 * Read metadata.ts first, then keys.ts and data-key.ts (how the key of a file is had), values.ts (one value) open.ts (a whole file) and stores.ts (the forms of
 * files that are no YAML).
 */
export { dataKeyOf } from './data-key.ts'
export { refusedFile } from './failures.ts'
export { readKeys, type SopsKeys } from './keys.ts'
export { isMetadata, type Metadata, readMetadata } from './metadata.ts'
export { damagedValue, type Leaf, openAll, pathOf, type SealedFile } from './open.ts'
export { dotenvFile, type FlatFile, iniFile, plainText } from './stores.ts'
export { decryptValue, isEncryptedValue, macTextOf, type Plain, plainValueOf } from './values.ts'
