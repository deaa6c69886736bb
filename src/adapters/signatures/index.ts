/**
 * Signatures of commits and artifacts: whether a commit, as Git keeps it, is signed by one of some keys, of OpenSSH (PROTOCOL.sshsig)
 * or OpenPGP, and an artifact by one of cosign.
 * No program is started for it. Everything in a commit is written by strangers, the date of its committer among it: keys are judged
 * by the time at which they are asked. Not here: where commits, artifacts and keys come from, and what becomes of one that is refused.
 * Read judge.ts first, then commit-object.ts, keyring.ts, ssh-signature.ts and pgp.ts, and artifact.ts for
 * artifacts.
 */
export { type ArtifactKey, judgeArtifact } from './artifact.ts'
export { type CommitObject, judge } from './judge.ts'
export { type Keyring, readArtifactKeys, readKeyring } from './keyring.ts'
export type { SignatureVerdict } from './verdict.ts'
