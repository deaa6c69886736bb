/**
 * SSH, as a server that ends the protocol itself: who logs in is told by key or password, and programs, terminals and connections
 * to ports are handed to whoever answers for them. Modern algorithms only; what a client asks for beyond that is refused. Not here:
 * whose key is whose, and where a program runs. Read door.ts (what it is told), server.ts, then login.ts, session.ts and channel.ts.
 */
export type { PublicKey, SshChannel, SshDoor, SshLine, SshProgram, SshVisitor } from './door.ts'
export { createHostKey, type HostKey, hostKeyFrom } from './keys.ts'
export { type SshServer, serveSsh } from './server.ts'
export { type FileEntry, type OpenFile, type OpenFlags, type SftpFiles, serveSftp } from './sftp.ts'
export { createOpenFolders, type OpenFolders } from './sftp-folders.ts'
export type { FileAttributes } from './sftp-packets.ts'
