import type { ArtifactRepository } from '../../adapters/artifacts/index.ts'
import { chartIn, type Revision } from '../../adapters/git/index.ts'
import { keyOf } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import type { Credentials } from '../ports/ports.ts'
import type { Project } from '../projects/project.ts'
import { type SignedSource, unreadableKeys } from './verification.ts'

interface SignedArtifacts {
  project: Project
  revision: Revision
  source: ArtifactRepository
  credentials: Pick<Credentials, 'forCommits'>
}

/** Artifacts of a registry, signed with keys of cosign. Nothing of one that is refused is fetched. */
export const signedArtifacts = ({ project, revision, source, credentials }: SignedArtifacts): SignedSource => ({
  async fetch(commit, signal) {
    await source.locate(withDigest(revision, commit), signal)
    await source.fetch(commit, signal)
  },
  async judge() {
    const { files, version, secret } = await credentials.forCommits(project)
    const { judgeArtifact, readArtifactKeys } = await import('../../adapters/signatures/index.ts')
    const keys = await readArtifactKeys(files).catch((thrown: unknown) => {
      throw unreadableKeys(project, secret, thrown)
    })
    return {
      version,
      async signerOf({ found: { commit, refName } }, signal) {
        const pushed = await source.signatures({ commit, revision }, signal)
        const verdict = await judgeArtifact(commit, pushed, keys)
        if ('signer' in verdict) return verdict.signer
        const way = refName === undefined ? '' : ` (${refName})`
        throw new Failure('invalid', `artifact sha256:${commit} ${verdict.why}${way}`, {
          object: `GitProject ${keyOf(project.ref)}`,
          reason: verdict.reason,
          remedy: `Sign it (cosign sign --key) with a key that Secret ${secret} has; it is looked at again soon, at once with \`berth poke\`.`,
        })
      },
    }
  },
})

/** The same artifact, by its digest. */
const withDigest = (revision: Revision, digest: string): Revision =>
  revision.kind === 'chart'
    ? { kind: 'chart', name: `${chartIn(revision.name).chart}@sha256:${digest}` }
    : { kind: 'commit', name: digest }
