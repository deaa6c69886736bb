/**
 * Artifacts: what registries of OCI and repositories of Helm charts hand out in place of a Git server. Each is an archive that is
 * named by its digest, which is taken for the id of a commit: here as there it is a tree of files that never changes.
 * Read artifacts.ts first; registry.ts and helm-repository.ts say where an artifact is, visit.ts how they are asked, unpack.ts what is
 * taken out of an archive, pack.ts how that is kept on disk,
 * signatures.ts what vouches for it.
 */
export { type ArtifactRepository, type Artifacts, type ArtifactType, artifactUrl, openArtifacts } from './artifacts.ts'
export type { PushedSignature } from './signatures.ts'
