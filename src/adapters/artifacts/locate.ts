import { type Clock, Failure, isCommitId, isFailure, minutes, type ReadYaml, Secret, withoutEnd } from '../../std/index.ts'
import { authorizationOf, chartIn, describeRevision, type Remote, type Revision } from '../git/index.ts'
import type { ArtifactPart, FoundArtifact } from './download.ts'
import { type ChartIndexes, openHelmRepository } from './helm-repository.ts'
import { openRegistry } from './registry.ts'
import type { RegistryTickets } from './registry-ask.ts'
import type { PushedSignature } from './signatures.ts'
import type { Asking, VisitWeb } from './visit.ts'

/** What all who look for artifacts share. */
export interface Seekers {
  visit: VisitWeb
  tickets: RegistryTickets
  indexes: ChartIndexes
  yaml: ReadYaml
  clock: Clock
}

/** An artifact that a revision means now. `find`: how to get it. */
export interface LocatedArtifact {
  /** In words. */
  about: string
  commit: string
  refName: string | undefined
  find(signal: AbortSignal): Promise<FoundArtifact>
}

/** Whether there is somebody who has charts, or artifacts, and may be asked. */
export async function probe(seekers: Seekers, remote: Remote, type: 'helm' | 'oci', signal: AbortSignal): Promise<void> {
  const place = type === 'oci' ? registryOf(seekers, remote, new URL(remote.url), signal) : chartsOf(seekers, remote, signal)
  return place.probe()
}

const askingOf = ({ visit }: Seekers, { authorities, owner }: Remote, signal: AbortSignal): Asking => ({
  ...{ visit, authorities, owner, signal },
})

function chartsOf(seekers: Seekers, remote: Remote, signal: AbortSignal) {
  const { indexes, yaml } = seekers
  const { url, credential } = remote
  const authorization = credential && new Secret(authorizationOf(credential))
  return openHelmRepository({ ...askingOf(seekers, remote, signal), indexes, yaml, url: new URL(url), authorization })
}

/** `url`: of the repository, which may lie below that of the remote. */
function registryOf(seekers: Seekers, remote: Remote, url: URL, signal: AbortSignal) {
  const { tickets, clock } = seekers
  const { credential } = remote
  return openRegistry({ ...askingOf(seekers, remote, signal), tickets, now: () => clock.now(), url, credential })
}

export type Locate = (seekers: Seekers, remote: Remote, revision: Revision, signal: AbortSignal) => Promise<LocatedArtifact>

export const chartAt: Locate = async (seekers, remote, revision, signal) => {
  if (revision.kind !== 'chart') throw unknownHere(remote, revision, 'lists Helm charts', 'Name one in spec.source.chart.')
  const named = chartIn(revision.name)
  const found = await chartsOf(seekers, remote, signal).find(named.chart, named.version)
  const { version, digest, isTold } = found
  const find = async (until: AbortSignal): Promise<FoundArtifact> => {
    const from = () => chartsOf(seekers, remote, until).download(found)
    const archive: ArtifactPart = { digest: isTold ? digest : undefined, form: 'tar+gzip', name: undefined, isChart: true, from }
    return { downloads: [archive], author: '', subject: `${named.chart} ${version}` }
  }
  return { commit: digest, refName: `refs/tags/${version}`, about: `${remote.url}: chart ${named.chart} ${version}`, find }
}

/** The repository in a registry; that of a chart lies below the one that is named. */
function placeOf({ url }: Remote, revision: Revision): URL {
  const place = new URL(url)
  if (revision.kind === 'chart') place.pathname = `${withoutEnd(place.pathname, '/')}/${chartIn(revision.name).chart}`
  return place
}

/** For all signatures of one artifact: each takes a request of its own. */
const SIGNATURES_WITHIN = minutes(2)

/** What was pushed beside an artifact of a registry to vouch for it. */
export async function signaturesOf(
  seekers: Seekers,
  remote: Remote,
  { commit, revision }: { commit: string; revision: Revision },
  signal: AbortSignal,
): Promise<PushedSignature[]> {
  const late = AbortSignal.timeout(SIGNATURES_WITHIN)
  try {
    return await registryOf(seekers, remote, placeOf(remote, revision), AbortSignal.any([signal, late])).signaturesOf(commit)
  } catch (thrown) {
    if (!late.aborted) throw thrown
    throw new Failure('timeout', `${remote.url} does not give the signatures of sha256:${commit} in time`, {
      reason: 'Unreachable',
      remedy: 'Check that the host answers.',
      cause: thrown,
    })
  }
}

export const artifactAt: Locate = async (seekers, remote, revision, signal) => {
  const place = placeOf(remote, revision)
  const registry = registryOf(seekers, remote, place, signal)
  const digest = digestIn(revision)
  const finding = (artifact: string) => async (until: AbortSignal) =>
    registryOf(seekers, remote, place, until).downloadsOf(artifact)
  const about = `${place.host}${place.pathname}`
  if (digest !== undefined) return { commit: digest, refName: undefined, about, find: finding(digest) }
  const range = rangeIn(revision)
  const tag = range === undefined ? tagIn(revision) : await registry.tagIn(range).catch(noChart(remote, revision))
  if (tag === undefined)
    throw unknownHere(remote, revision, 'is a registry', 'Name a tag, a range of versions or a digest (sha256:…).')
  const commit = await registry.digestOf(tag).catch(noChart(remote, revision))
  return { commit, refName: `refs/tags/${tag}`, about: `${about}:${tag}`, find: finding(commit) }
}

/** Of a chart that is not there the others know nothing: the project is as good as before. */
const noChart =
  ({ url }: Remote, revision: Revision) =>
  (thrown: unknown): never => {
    const isLost = isFailure(thrown, 'not-found') && thrown.reason === 'RepositoryNotFound'
    if (revision.kind !== 'chart' || !isLost) throw thrown
    throw new Failure('not-found', `${url} has no chart ${chartIn(revision.name).chart}, or these credentials may not see it`, {
      reason: 'RefNotFound',
      remedy: 'Correct spec.source.chart.name, or push it.',
    })
  }

const DIGEST = /^sha256:([0-9a-f]{64})$/

/** The artifact itself, where the revision names it. */
export function digestIn(revision: Revision): string | undefined {
  if (revision.kind === 'commit' && revision.name.length === 64 && isCommitId(revision.name)) return revision.name
  return revision.kind === 'chart' ? DIGEST.exec(chartIn(revision.name).version)?.[1] : undefined
}

/** A whole version of a chart is a tag; everything else is looked for. */
function rangeIn(revision: Revision): string | undefined {
  if (revision.kind === 'semver') return revision.name
  if (revision.kind !== 'chart') return undefined
  const { version } = chartIn(revision.name)
  return /^v?\d+\.\d+\.\d+(?:[-+][\w.+-]*)?$/.test(version) ? undefined : version || '*'
}

function tagIn(revision: Revision): string | undefined {
  if (revision.kind === 'default') return 'latest'
  if (revision.kind === 'chart') return chartIn(revision.name).version.replaceAll('+', '_')
  if (revision.kind === 'tag' || revision.kind === 'short') return revision.name
  return revision.kind === 'full' ? /^refs\/tags\/(.+)$/.exec(revision.name)?.[1] : undefined
}

const unknownHere = ({ url }: Remote, revision: Revision, what: string, remedy: string): Failure =>
  new Failure('invalid', `${url} ${what}, and has no ${describeRevision(revision)}`, { reason: 'RefInvalid', remedy })

export const gone = ({ url }: Remote, commit: string): Failure =>
  new Failure('not-found', `${url} has no artifact sha256:${commit} any more`, {
    reason: 'RefNotFound',
    remedy: 'Name one that is there.',
  })
