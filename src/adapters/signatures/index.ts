/**
 * Signatures of commits: whether a commit, as Git keeps it, is signed by one of some keys, of OpenSSH (PROTOCOL.sshsig) or OpenPGP.
 * No program is started for it. Everything in a commit is written by strangers, the date of its committer among it: keys are judged
 * by the time at which they are asked. Not here: where commits and keys come from, and what becomes of a commit that is refused.
 * Read judge.ts first, then commit-object.ts, keyring.ts, ssh-signature.ts and pgp.ts.
 */
export { type CommitObject, judge } from './judge.ts'
export { type Keyring, readKeyring } from './keyring.ts'
export type { SignatureVerdict } from './verdict.ts'
