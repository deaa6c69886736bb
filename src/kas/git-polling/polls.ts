import { type Mirrors, type Protocol, type Remote, type Revision, remoteUrl } from '../../adapters/git/index.ts'
import { keyOf, type Ref } from '../../api/index.ts'
import { type Clock, createTurnstile, Failure, type Log } from '../../std/index.ts'
import type { Credentials, Outcome, Polls, Sighting } from '../ports.ts'
import type { Project } from '../project.ts'
import { Poll } from './poll.ts'
import { createSnapshot } from './snapshot.ts'

export interface PollingOptions {
  mirrors: Mirrors
  credentials: Credentials
  protocols: readonly Protocol[]
  /** Git processes at once, over all repositories. */
  concurrency: number
  clock: Clock
  log: Log
}

/** All polls: one for each repository, ref and credential, however many follow it. */
export function createPolls(options: PollingOptions): Polls {
  const { clock, log } = options
  const polls = new Map<string, Poll>()
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  const listeners: ((outcome: Outcome) => void)[] = []
  const looker = createLooker(options, stopping.signal)

  const start = (key: string, project: Project, revision: Revision): Poll => {
    const poll = new Poll({
      clock,
      look: () => looker(project, revision),
      version: () => options.credentials.versionOf(project),
      report(projects, sighting) {
        if ('failure' in sighting)
          log.warn('A repository could not be read', { project: keyOf(project.ref), error: sighting.failure })
        for (const listener of listeners) listener({ projects, revision, sighting })
      },
    })
    polls.set(key, poll)
    return poll
  }

  const run = (key: string, poll: Poll) => {
    const done = poll.run(stopping.signal).finally(() => {
      running.delete(done)
      if (polls.get(key) === poll) polls.delete(key)
    })
    running.add(done)
  }

  return {
    follow(project, asked, renew) {
      const revision: Revision =
        asked.kind === 'default' && project.defaultBranch ? { kind: 'branch', name: project.defaultBranch } : asked
      const key = keyFor(project, revision)
      const known = polls.get(key)
      if (known && !known.hasEnded) return known.follow(project, renew)
      const poll = start(key, project, revision)
      const following = poll.follow(project, renew)
      run(key, poll)
      return following
    },
    poke(ref) {
      const concerned = [...polls.values()].filter((poll) => poll.projects.some((one) => keyOf(one.ref) === keyOf(ref)))
      for (const poll of concerned) poll.poke()
      return concerned.length
    },
    onOutcome: (listener) => void listeners.push(listener),
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

/** The credential by its name: its value is read at each poll. Without one everybody shares. */
const keyFor = ({ url, credentials }: Project, revision: Revision): string =>
  JSON.stringify([url, ownerOf(credentials), revision])

const ownerOf = (credentials: Ref | undefined): string => (credentials ? keyOf(credentials) : '')

type Look = (project: Project, revision: Revision) => Promise<Sighting>

function createLooker({ mirrors, credentials, protocols, concurrency }: PollingOptions, signal: AbortSignal): Look {
  const turnstile = createTurnstile(concurrency)
  return async (project, revision) => {
    try {
      const remote: Remote = {
        url: remoteUrl(project.url, protocols),
        credential: await credentials.forGit(project),
        owner: ownerOf(project.credentials),
      }
      const mirror = mirrors.of(remote)
      const found = await turnstile(() => mirror.locate(revision, signal))
      return found ? { snapshot: createSnapshot(mirror, found, turnstile, signal) } : { empty: true }
    } catch (thrown) {
      return { failure: Failure.from(thrown) }
    }
  }
}
