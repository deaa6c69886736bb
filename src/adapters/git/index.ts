/**
 * Git: bare mirrors of other people's repositories, fetched and read by the `git` program through simple-git, confined.
 * Nobody is asked here whether a caller may read a repository, and nothing is ever checked out.
 * Read mirrors.ts first; run.ts is the confinement, remote.ts keeps credentials out of texts, failures.ts turns the words of git into ours.
 */
export { type Mirror, type MirrorOptions, type Mirrors, openMirrors } from './mirrors.ts'
export { type GitCredential, type Protocol, type Remote, redactUrls, remoteUrl } from './remote.ts'
export { checkRevision, type Revision } from './revision.ts'
export { type GitServer, type ServeGitOptions, serveGit } from './serve.ts'
export type { TreeFile } from './tree.ts'
