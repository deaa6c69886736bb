/**
 * Makes X.509 certificates for programs that speak TLS to each other and have no authority of their own: a node of ours and its API
 * server (adapters/control-plane). The ASN.1 is pkijs', the keys and signatures are Node's: P-256 and SHA-256, which every client of
 * Kubernetes reads. Not here: who uses them, and where they are kept.
 */
export { type Authority, createAuthority, issueCertificate, type KeyAndCertificate, readAuthority } from './authority.ts'
