/**
 * The way into workspaces over SSH. The gateway ends the protocol, says who gets in (door.ts), and runs what is asked for in the
 * workspace's main container, in the name of its owner (inside.ts): programs by the exec API (programs.ts), connections to ports by
 * that for forwarding (forward.ts). Images need no server for SSH, and nothing else leads in. Read door.ts first.
 */
export { openAuthority } from './authority.ts'
export { createCertificates } from './certificates.ts'
export { createSshDoor } from './door.ts'
export { obtainHostKey } from './host-key.ts'
export { createInside } from './inside.ts'
export { knownHost, NO_KNOWN_HOST } from './known-host.ts'
export { createSessionOfToken } from './tokens.ts'
