import { type Artifacts, artifactUrl } from '../../adapters/artifacts/index.ts'
import { type Mirrors, type Protocol, type Remote, type Revision, remoteUrl } from '../../adapters/git/index.ts'
import type { Cache } from '../../adapters/kube/index.ts'
import { annotations, type GitProject, isRefusedCommit, keyOf, type Ref, refOf } from '../../api/index.ts'
import { type Clock, Failure, type Log, LRUCache, logFieldsOf } from '../../std/index.ts'
import type { Credentials, PollOutcome, PollSighting, Polls } from '../ports/ports.ts'
import { failureIn } from '../ports/sightings.ts'
import type { Project } from '../projects/project.ts'
import { concerns } from './concerns.ts'
import { createFetchBackoff } from './fetch-backoff.ts'
import { createLanes, type Lanes } from './lanes.ts'
import { createListings, type Listings, refIn } from './listings.ts'
import { createPace, type PollPace } from './pace.ts'
import { Poll } from './poll.ts'
import { snapshotOfRefs } from './refs.ts'
import { signedArtifacts } from './signed-artifacts.ts'
import { type Keyrings, signedCommits } from './signed-commits.ts'
import { createSnapshot, type SnapshotTools, type Trees } from './snapshot.ts'
import { createVerification, type LastServed, type Located, type SignedSource, type Verified } from './verification.ts'

export interface PollingOptions {
  mirrors: Mirrors
  artifacts: Artifacts
  credentials: Credentials
  protocols: readonly Protocol[]
  /** Git processes at once, over all repositories that answer; half as many for those that do not. */
  concurrency: number
  lastServed: LastServed
  clock: Clock
  log: Log
  /** Told how long the Git server took, in milliseconds. */
  onLook?: (milliseconds: number) => void
}

/** All polls: one for each repository, ref and credential, however many follow it. */
export function createPolls(options: PollingOptions): Polls {
  const { clock, log } = options
  const polls = new Map<string, { poll: Poll; revision: Revision; repository: string }>()
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  const listeners: ((outcome: PollOutcome) => void)[] = []
  const shared: Shared = {
    lanes: createLanes(options.concurrency),
    listings: createListings(clock),
    wake(repository, refs) {
      for (const each of polls.values()) if (each.repository === repository) each.poll.wake(refs.has(refIn(each.revision) ?? ''))
    },
    pace: createPace(clock),
    keyrings: new LRUCache({ max: MOST_KEYRINGS }),
    trees: new LRUCache({ maxSize: MOST_LISTED, sizeCalculation: ({ bytes }) => bytes + 1 }),
  }

  const start = (key: string, project: Project, revision: Revision): Poll => {
    const newRefusalIn = createRefusalNews()
    const isNewHere = createNews()
    const poll = new Poll({
      clock,
      ...createLooker(options, shared, project, revision, stopping.signal),
      version: () => options.credentials.versionOf(project),
      pace: shared.pace,
      report(projects, sighting, since) {
        if ('failure' in sighting)
          log.warn('A repository could not be read', { project: keyOf(project.ref), error: sighting.failure })
        const refused = projects.length > 0 ? newRefusalIn(sighting) : undefined
        const isNews = projects.length > 0 && isNewHere(sighting)
        if (refused && 'snapshot' in sighting) log.warn('A commit was refused', { project: keyOf(project.ref), error: refused })
        for (const listener of listeners) listener({ projects, revision, sighting, isNews, refused, since })
      },
    })
    polls.set(key, { poll, revision, repository: repositoryOf(project) })
    return poll
  }

  const run = (key: string, poll: Poll) => {
    const done = poll.run(stopping.signal).finally(() => {
      running.delete(done)
      if (polls.get(key)?.poll === poll) polls.delete(key)
    })
    running.add(done)
  }

  return {
    follow(project, asked, by) {
      const revision: Revision =
        asked.kind === 'default' && project.defaultBranch ? { kind: 'branch', name: project.defaultBranch } : asked
      const key = keyFor(project, revision)
      const known = polls.get(key)?.poll
      if (known && !known.hasEnded) return known.follow(project, by)
      const poll = start(key, project, revision)
      const following = poll.follow(project, by)
      run(key, poll)
      return following
    },
    poke(project, ref) {
      const concerned = [...polls.values()].filter(
        ({ poll, revision }) => poll.serves(project) && (ref === undefined || concerns(revision, poll.meant, ref)),
      )
      const woken = concerned.filter(({ poll }) => poll.projects.length > 0).length
      for (const { poll } of concerned) poll.poke()
      return woken
    },
    get waiting() {
      return shared.lanes.waiting
    },
    get sightings() {
      return [...polls.values()].flatMap(({ poll }) => poll.sighting ?? [])
    },
    onOutcome: (listener) => void listeners.push(listener),
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

/** Anything new in the annotation wakes the polls of a project: whoever may write it may ask so, with no more than kubectl. */
export const pokeByAnnotation = (cache: Cache<GitProject>, polls: Polls): (() => void) =>
  cache.onChange((now, before) => {
    if (now && before && noteOf(now) !== undefined && noteOf(now) !== noteOf(before)) polls.poke(refOf(now))
  })

const noteOf = (object: GitProject | undefined): string | undefined => object?.metadata.annotations?.[annotations.poke]

/** Whether it is another commit of another ref than the last time. */
function createNews(): (sighting: PollSighting) => boolean {
  let last: string | undefined
  return (sighting) => {
    const now = 'snapshot' in sighting ? `${sighting.snapshot.commit} ${sighting.snapshot.refName}` : last
    const isNews = now !== last
    last = now
    return isNews
  }
}

/** Gives each refusal of a commit once, whether there is another one to serve in its place or not. */
function createRefusalNews(): (sighting: PollSighting) => Failure | undefined {
  let told: string | undefined
  return (sighting) => {
    const failure = failureIn(sighting)
    const refused = 'snapshot' in sighting || isRefusedCommit(failure?.reason) ? failure : undefined
    const isNews = refused && refused.message !== told
    told = refused?.message
    return isNews ? refused : undefined
  }
}

/**
 * The credential by its name: its value is read at each poll. Without one everybody shares, but for those who have commits verified:
 * what was served last is another one in each project.
 */
const keyFor = ({ ref, url, type, credentials, verify }: Project, revision: Revision): string =>
  JSON.stringify([url, type, ownerOf(credentials), revision, verify ? [keyOf(ref), verify] : ''])

/** Who has the same credentials for it sees the same. */
const repositoryOf = ({ url, type, credentials }: Project): string => JSON.stringify([url, type, ownerOf(credentials)])

const ownerOf = (credentials: Ref | undefined): string => (credentials ? keyOf(credentials) : '')

/** All polls share these. */
interface Shared {
  lanes: Lanes
  listings: Listings
  /** The polls of a repository that was listed, with the refs that are others than before. */
  wake: (repository: string, refs: ReadonlySet<string>) => void
  trees: Trees
  keyrings: Keyrings
  pace: PollPace
}

/** Bytes of the lists of files that are remembered, of all repositories together. */
const MOST_LISTED = 128 * 2 ** 20

/** As many projects as have their commits verified at once, mostly. */
const MOST_KEYRINGS = 128

/** Asks the Git server for one poll. Its commits are fetched by the same lane, when streams want them. */
function createLooker(
  options: PollingOptions,
  { lanes, listings, wake, trees, keyrings }: Shared,
  project: Project,
  revision: Revision,
  signal: AbortSignal,
) {
  const { mirrors, artifacts, credentials, protocols, clock, log, onLook } = options
  const { namespace } = project.ref
  const repository = repositoryOf(project)
  const lane = lanes.lane(repository, namespace)
  const patience = createFetchBackoff(clock)
  const { lastServed } = options
  const verification = project.verify && createVerification({ project, revision, lastServed, clock })
  let earlier: string | undefined
  const onListed = (commit: string) => {
    earlier = commit
  }
  const onFailed = (commit: string, error: Failure) => {
    if (!signal.aborted) log.warn('A commit could not be fetched', { project: keyOf(project.ref), ...logFieldsOf(commit), error })
  }
  const tools = { repository, lane, lanes, trees, namespace, patience, signal, onListed, onFailed }
  const serve = async (found: Located, source: SnapshotTools['mirror'], signed: SignedSource): Promise<PollSighting> => {
    const served: Located & Partial<Verified> = verification
      ? await lane.pass(() => verification.verify(found, signed, signal))
      : found
    const snapshot = createSnapshot(served, { ...tools, mirror: source, earlier })
    return { snapshot, ...(served.refused && { refused: served.refused }) }
  }
  const look = async (since: number): Promise<PollSighting> => {
    const { url, type } = project
    const remote: Remote = {
      url: type === 'git' ? remoteUrl(url, protocols) : artifactUrl(url, type, protocols),
      ...(await credentials.forGit(project)),
      owner: ownerOf(project.credentials),
    }
    const ask = <T>(question: () => Promise<T>): Promise<T> =>
      lane.pass(async () => {
        const began = clock.now()
        try {
          return await question()
        } finally {
          onLook?.(clock.now() - began)
        }
      })
    if (type !== 'git') {
      const source = artifacts.of(remote, type)
      if (revision.kind === 'refs') {
        await ask(() => source.probe(signal))
        return { empty: true }
      }
      const found = await ask(() => source.locate(revision, signal))
      return serve(found, source, signedArtifacts({ project, revision, source, credentials }))
    }
    const mirror = mirrors.of(remote)
    if (revision.kind === 'refs') {
      const at = clock.now()
      const refs = await ask(() => mirror.refs(revision.name, signal))
      if (!refs) return { empty: true }
      wake(repository, new Set(listings.note(repository, revision.name, { refs, at })))
      return { snapshot: snapshotOfRefs(refs) }
    }
    const found = listings.find(repository, revision, since) ?? (await ask(() => mirror.locate(revision, signal)))
    if (!found) return { empty: true }
    return serve(found, mirror, signedCommits({ project, mirror, credentials, keyrings }))
  }
  return {
    isShared: revision.kind === 'refs',
    isKnown: (since: number) => listings.find(repository, revision, since) !== undefined,
    look: (since: number): Promise<PollSighting> => look(since).catch((thrown: unknown) => ({ failure: Failure.from(thrown) })),
    hurry() {
      patience.forget()
      verification?.forget()
    },
  }
}
