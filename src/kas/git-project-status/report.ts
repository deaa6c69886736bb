import { isDeepStrictEqual } from 'node:util'
import type { Cache, Kube } from '../../adapters/kube/index.ts'
import {
  type GitProject,
  type GitProjectStatus,
  GitProjects,
  isDeleting,
  isTrue,
  keyOf,
  type Ref,
  refFromKey,
} from '../../api/index.ts'
import { type Clock, createWorkQueue, Failure, isFailure, type Log, seconds, timestamp } from '../../std/index.ts'
import type { Outcome, Polls } from '../ports.ts'
import { projectFrom, sourceOf } from '../project.ts'
import { type Finding, statusAfter } from './status.ts'

export interface StatusOptions {
  /** Its writes show in the cache at once. */
  kube: Kube
  cache: Cache<GitProject>
  polls: Polls
  clock: Clock
  log: Log
}

export interface StatusReports {
  stop(): Promise<void>
}

const AGAIN = seconds(5)
const WRITERS = 4

/** Writes what polls find into the status of the projects, and looks once at each project that nobody follows yet. */
export function reportStatus({ kube, cache, polls, clock, log }: StatusOptions): StatusReports {
  /** Findings that are not written yet, by project and revision. */
  const findings = new Map<string, Map<string, Finding>>()
  /** Projects that are looked at on our own account. */
  const looks = new Map<string, { generation: number | undefined; ending: AbortController }>()

  const write = async (key: string) => {
    const found = findings.get(key)
    const object = cache.get(refFromKey(key))
    findings.delete(key)
    if (!found || !object || isDeleting(object)) return
    const project = projectFrom(object)
    // What was found under an older spec says nothing of this one.
    const current = [...found.values()].filter(({ source }) => source === sourceOf(project))
    const status = current.reduce<GitProjectStatus | undefined>(
      (sofar, finding) => statusAfter(sofar, project, finding),
      object.status,
    )
    if (current.length === 0 || isDeepStrictEqual(status, object.status)) return
    await kube.patch(
      GitProjects,
      project.ref,
      { metadata: { uid: project.uid }, status },
      { subresource: 'status', manager: 'berth-kas' },
    )
  }

  const queue = createWorkQueue({
    clock,
    concurrency: WRITERS,
    groupOf: (key) => refFromKey(key).namespace ?? '',
    async work(key) {
      const before = findings.get(key)
      try {
        await write(key)
      } catch (thrown) {
        // Deleted, or deleted and made anew: then this finding is nobody's.
        if (isFailure(thrown, 'not-found', 'conflict')) return
        log.warn('The status of a GitProject could not be written', { project: key, error: Failure.from(thrown) })
        findings.set(key, new Map([...(before ?? []), ...(findings.get(key) ?? [])]))
        queue.addAfter(key, AGAIN)
      }
    },
  })

  const note = ({ projects, revision, sighting }: Outcome) => {
    const at = timestamp(clock.now())
    for (const project of projects) {
      const key = keyOf(project.ref)
      const found = findings.get(key) ?? new Map<string, Finding>()
      found.set(JSON.stringify(revision), { source: sourceOf(project), revision, sighting, at })
      findings.set(key, found)
      queue.add(key)
    }
  }

  /** Follows the default branch of a project that is new or changed until it could be read once. */
  const lookOnce = async (object: GitProject, ended: AbortSignal) => {
    const following = polls.follow(projectFrom(object), { kind: 'default' }, async () => undefined)
    try {
      let seen = await following.next(undefined, ended)
      while (seen && 'failure' in seen) seen = await following.next(seen, ended)
    } finally {
      following.close()
    }
  }

  const consider = (ref: Ref) => {
    const key = keyOf(ref)
    const object = cache.get(ref)
    const wanted = object && !isDeleting(object) && needsLook(object) ? object : undefined
    const looking = looks.get(key)
    if (looking && looking.generation === object?.metadata.generation) return
    looking?.ending.abort()
    looks.delete(key)
    if (!wanted) return
    const look = { generation: wanted.metadata.generation, ending: new AbortController() }
    looks.set(key, look)
    void lookOnce(wanted, look.ending.signal).finally(() => {
      if (looks.get(key) === look) looks.delete(key)
    })
  }

  polls.onOutcome(note)
  const forget = cache.onChange((now, before) => {
    const changed = now ?? before
    if (changed) consider({ name: changed.metadata.name, namespace: changed.metadata.namespace })
  })
  for (const object of cache.all()) consider({ name: object.metadata.name, namespace: object.metadata.namespace })

  return {
    async stop() {
      forget()
      for (const { ending } of looks.values()) ending.abort()
      await queue.stop()
    },
  }
}

/** Nobody has said yet how it is, or the last word was that it could not be read. */
const needsLook = ({ metadata, status }: GitProject): boolean =>
  status?.observedGeneration !== metadata.generation || !isTrue(status?.conditions, 'Ready')
