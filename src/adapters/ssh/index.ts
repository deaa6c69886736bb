/**
 * SSH, as a server that ends the protocol itself: who logs in is told by key, certificate or password, and programs, terminals and
 * connections to ports are handed to whoever answers for them. Modern algorithms only; what a client asks for beyond that is refused.
 * Not here: whose key is whose, and where a program runs. Read door.ts (what it is told), server.ts, then login.ts, certificate.ts,
 * session.ts and channel.ts. What `berth ssh-cert` asks a server goes by ask.ts.
 */
export { askOverSsh, type SshAnswer } from './ask.ts'
export {
  CERTIFICATE_TYPE,
  readCertificate,
  readUnprovedCertificate,
  signCertificate,
} from './certificate.ts'
export type { CertificateDoor, PublicKey, SshChannel, SshDoor, SshLine, SshProgram, SshVisitor, UserCertificate } from './door.ts'
export { createKeyPair, type KeyPair, keyPairFrom } from './keys.ts'
export { type SshServer, serveSsh } from './server.ts'
export { type FileEntry, type OpenFile, type OpenFlags, type SftpFiles, serveSftp } from './sftp.ts'
export { createOpenFolders, type OpenFolders } from './sftp-folders.ts'
export type { FileAttributes } from './sftp-packets.ts'
export { strings, type WireReader, wireReader } from './wire.ts'
