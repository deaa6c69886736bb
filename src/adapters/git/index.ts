/**
 * Git: bare mirrors of other people's repositories, fetched and read by the `git` program through simple-git, confined.
 * Nobody is asked here whether a caller may read a repository, and nothing is ever checked out.
 * Read mirrors.ts and mirror.ts first; run.ts is the confinement, reach.ts says which hosts may be asked, data-folder.ts how much is
 * kept, remote.ts keeps credentials out of texts, failures.ts turns the words of git into ours.
 */
export type { DiskLimits } from './data-folder.ts'
export { failureFromDisk } from './failures.ts'
export { type Mirror, MOST_BETWEEN, type Transfer } from './mirror.ts'
export { anywhere, type MirrorFolders, type MirrorOptions, type Mirrors, openMirrors } from './mirrors.ts'
export type { Approach, Pin, ReachRules, Resolve } from './reach.ts'
export {
  authorizationOf,
  type GitAccess,
  type GitCredential,
  mirrorName,
  PROTOCOLS,
  type Protocol,
  type Remote,
  remoteUrl,
  type SshKey,
} from './remote.ts'
export { chartIn, checkRevision, describeRevision, type Revision } from './revision.ts'
export { highestTag, parseRange } from './semver.ts'
export { type GitServer, type ServeGitOptions, serveGit } from './serve.ts'
export type { CommitLine, TreeFile } from './tree.ts'
