import { mkdir } from 'node:fs/promises'
import { createTurnstile, createYamlReader, isFailure, LRUCache, type ReadYaml, type Turnstile } from '../../std/index.ts'
import {
  type CommitLine,
  failureFromDisk,
  type MirrorFolders,
  mirrorName,
  type Protocol,
  type Remote,
  type Revision,
  remoteUrl,
  type TreeFile,
} from '../git/index.ts'
import { download } from './download.ts'
import { artifactAt, chartAt, digestIn, gone, type LocatedArtifact, probe, type Seekers, signaturesOf } from './locate.ts'
import { hasPack, readContents, readPack, removeOthers, writePack } from './pack.ts'
import type { PushedSignature } from './signatures.ts'
import { createVisit } from './visit.ts'

/** What hands out artifacts: a web server with an index of Helm charts, or a registry. */
export type ArtifactType = 'helm' | 'oci'

/** The same as of a repository of Git: its commits are digests of artifacts, its tags those of a registry. */
export interface ArtifactRepository {
  /** Fails where nobody is who has charts, or artifacts. */
  probe(signal: AbortSignal): Promise<void>
  locate(revision: Revision, signal: AbortSignal): Promise<{ commit: string; refName: string | undefined }>
  fetch(commit: string, signal: AbortSignal): Promise<void>
  /** What was pushed beside the artifact, which the revision means or meant, to vouch for it. */
  signatures(artifact: { commit: string; revision: Revision }, signal: AbortSignal): Promise<PushedSignature[]>
  files(commit: string): Promise<TreeFile[]>
  read(files: readonly TreeFile[]): Promise<Uint8Array[]>
  line(): Promise<CommitLine>
}

export interface Artifacts {
  of(remote: Remote, type: ArtifactType): ArtifactRepository
}

interface ArtifactServices extends MirrorFolders, Omit<Seekers, 'clock'> {
  /** Fetches of one repository go one after the other. */
  turns: Turnstile
}

/** As many repositories, or charts, as are remembered. */
const MOST_REMEMBERED = 512

/** Opens what shares the data folder, and the rules of whom to ask, with the mirrors of Git. */
export function openArtifacts(
  folders: MirrorFolders,
  { environment, yaml = createYamlReader() }: { environment: Readonly<Record<string, string>>; yaml?: ReadYaml },
): Artifacts {
  const services: ArtifactServices = {
    ...folders,
    visit: createVisit(folders.approach, environment),
    tickets: new LRUCache({ max: MOST_REMEMBERED }),
    indexes: new LRUCache({ max: MOST_REMEMBERED }),
    yaml,
    turns: createTurnstile({ each: 1 }),
  }
  return { of: (remote, type) => openRepository(services, remote, type) }
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Where to ask for what `spec.url` names. A registry on loopback speaks HTTP, as container tools have it. */
export function artifactUrl(written: string, type: ArtifactType, protocols: readonly Protocol[]): string {
  if (type === 'helm') return remoteUrl(written, protocols)
  const https = written.replace(/^oci:\/\/docker\.io\//, 'oci://registry-1.docker.io/').replace(/^oci:/, 'https:')
  const url = new URL(remoteUrl(https, protocols))
  const isPlain = LOOPBACK.test(url.hostname) && protocols.includes('http')
  return isPlain ? remoteUrl(https.replace(/^https:/, 'http:'), protocols) : url.href
}

function openRepository(services: ArtifactServices, remote: Remote, type: ArtifactType): ArtifactRepository {
  const name = `${mirrorName(remote)}.${type}`
  const folder = services.data.place(name)
  /** What was found last. */
  let last: LocatedArtifact | undefined
  /** What was listed last; the list itself is kept by whoever wanted it. */
  let listed = { commit: '', line: { author: '', subject: '' } }

  const bring = async (commit: string, signal: AbortSignal): Promise<void> => {
    if (await hasPack(folder, commit)) return
    if (last?.commit !== commit) throw gone(remote, commit)
    const { find, about } = last
    const began = services.clock.now()
    const work = async (ended: AbortSignal) => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writePack(folder, commit, about, async (into) => {
        const { downloads, ...line } = await find(ended)
        for (const each of downloads) await download(each, { about, into, signal: ended })
        return line
      })
    }
    try {
      const bytes = await services.data.growing(name, remote.url, work, signal)
      services.onTransfer({ commit, milliseconds: services.clock.now() - began, bytes })
    } catch (thrown) {
      const failure = isFailure(thrown) ? thrown : failureFromDisk(thrown, remote)
      services.onTransfer({ commit, milliseconds: services.clock.now() - began, bytes: 0, failure })
      throw failure
    }
  }
  return {
    probe: (signal) => probe(services, remote, type, signal),
    async locate(revision, signal) {
      const digest = digestIn(revision)
      // What was fetched once is there when nobody lists it any more, as for a way back.
      if (digest !== undefined && (await hasPack(folder, digest))) return { commit: digest, refName: undefined }
      last = await (type === 'helm' ? chartAt : artifactAt)(services, remote, revision, signal)
      return { commit: last.commit, refName: last.refName }
    },
    signatures: (artifact, signal) => signaturesOf(services, remote, artifact, signal),
    async fetch(commit, signal) {
      await services.turns.pass(name, async () => {
        services.data.use(name)
        await bring(commit, signal)
        if (services.recent.use(name, commit)) await removeOthers(folder, services.recent.kept(name))
      })
    },
    async files(commit) {
      const { line, files } = await readPack(folder, commit)
      listed = { commit, line }
      return files
    },
    async read(files) {
      services.data.use(name)
      return readContents(folder, listed.commit, files)
    },
    line: async () => listed.line,
  }
}
