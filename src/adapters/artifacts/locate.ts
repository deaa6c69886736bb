import { type Clock, Failure, isCommitId, isFailure, type ReadYaml, Secret, withoutEnd } from '../../std/index.ts'
import { authorizationOf, chartIn, describeRevision, type Remote, type Revision } from '../git/index.ts'
import type { ArtifactPart, FoundArtifact } from './download.ts'
import { type ChartIndexes, openHelmRepository } from './helm-repository.ts'
import { openRegistry } from './registry.ts'
import type { RegistryTickets } from './registry-ask.ts'
import type { VisitWeb } from './visit.ts'

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
  const { visit, indexes, yaml, tickets, clock } = seekers
  const { credential, authorities, owner } = remote
  const url = new URL(remote.url)
  if (type === 'oci')
    return openRegistry({ visit, tickets, now: () => clock.now(), url, credential, authorities, owner, signal }).probe()
  const authorization = credential && new Secret(authorizationOf(credential))
  return openHelmRepository({ visit, indexes, yaml, url, authorization, authorities, owner, signal }).probe()
}

export type Locate = (seekers: Seekers, remote: Remote, revision: Revision, signal: AbortSignal) => Promise<LocatedArtifact>

export const chartAt: Locate = async ({ visit, indexes, yaml }, remote, revision, signal) => {
  const { url, credential, authorities, owner } = remote
  const authorization = credential && new Secret(authorizationOf(credential))
  const open = (until: AbortSignal) =>
    openHelmRepository({ ...{ visit, indexes, yaml, authorization, authorities, owner }, url: new URL(url), signal: until })
  if (revision.kind !== 'chart') throw unknownHere(remote, revision, 'lists Helm charts', 'Name one in spec.source.chart.')
  const named = chartIn(revision.name)
  const found = await open(signal).find(named.chart, named.version)
  const { version, digest, isTold } = found
  const find = async (until: AbortSignal): Promise<FoundArtifact> => {
    const from = () => open(until).download(found)
    const archive: ArtifactPart = { digest: isTold ? digest : undefined, form: 'tar+gzip', name: undefined, isChart: true, from }
    return { downloads: [archive], author: '', subject: `${named.chart} ${version}` }
  }
  return { commit: digest, refName: `refs/tags/${version}`, about: `${url}: chart ${named.chart} ${version}`, find }
}

export const artifactAt: Locate = async ({ visit, tickets, clock }, remote, revision, signal) => {
  const { url, credential, authorities, owner } = remote
  const place = new URL(url)
  if (revision.kind === 'chart') place.pathname = `${withoutEnd(place.pathname, '/')}/${chartIn(revision.name).chart}`
  const open = (until: AbortSignal) =>
    openRegistry({ visit, tickets, now: () => clock.now(), url: place, credential, authorities, owner, signal: until })
  const registry = open(signal)
  const digest = digestIn(revision)
  const finding = (artifact: string) => async (until: AbortSignal) => open(until).downloadsOf(artifact)
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
