/**
 * The program that makes the certificates of an installation and renews them, where neither cert-manager nor its people do. It makes
 * Secrets whose names a policy of `deploy/certificates` says, may write no other, and leaves alone what somebody else has put there.
 * Read program.ts, then keep.ts. Not here: how a certificate is made (adapters/certificates), and who reads it.
 */
export { parseConfig, SETTINGS } from './config.ts'
export { start } from './program.ts'
