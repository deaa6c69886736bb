import { isDeepStrictEqual } from 'node:util'
import type { Cache, Kube } from '../../adapters/kube/index.ts'
import { type GitProject, type GitProjectStatus, GitProjects, isDeleting, keyOf, refFromKey } from '../../api/index.ts'
import { type Clock, createWorkQueue, Failure, isFailure, type Log, seconds, timestamp, type WorkQueue } from '../../std/index.ts'
import type { Outcome, Polls } from '../ports.ts'
import { projectFrom, sourceOf } from '../project.ts'
import { lookFirst } from './first-look.ts'
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

/** What was found of one project and is not written yet, by revision. */
type Findings = Map<string, Finding>

const AGAIN = seconds(5)
const WRITERS = 4

/** Writes what polls find into the status of the projects, each finding once. */
export function reportStatus(options: StatusOptions): StatusReports {
  const { polls, cache, clock } = options
  const unwritten = new Map<string, Findings>()
  const queue: WorkQueue = createWorkQueue({
    clock,
    concurrency: WRITERS,
    groupOf: (key) => refFromKey(key).namespace ?? '',
    async work(key) {
      const findings = unwritten.get(key)
      unwritten.delete(key)
      if (!findings || (await isWritten(options, key, findings))) return
      // What has been found meanwhile is newer.
      unwritten.set(key, new Map([...findings, ...(unwritten.get(key) ?? [])]))
      queue.addAfter(key, AGAIN)
    },
  })
  polls.onOutcome((outcome) => {
    for (const key of note(unwritten, outcome, timestamp(clock.now()))) queue.add(key)
  })
  const stopLooking = lookFirst(cache, polls)
  return {
    async stop() {
      stopLooking()
      await queue.stop()
    },
  }
}

/** Keeps the finding for everybody whose poll it was; gives their keys. */
function note(unwritten: Map<string, Findings>, { projects, revision, sighting }: Outcome, at: string): string[] {
  return projects.map((project) => {
    const key = keyOf(project.ref)
    const findings = unwritten.get(key) ?? new Map<string, Finding>()
    unwritten.set(key, findings.set(JSON.stringify(revision), { source: sourceOf(project), revision, sighting, at }))
    return key
  })
}

async function isWritten(options: StatusOptions, key: string, findings: Findings): Promise<boolean> {
  try {
    await write(options, key, findings)
    return true
  } catch (thrown) {
    // Deleted, or deleted and made anew: then these findings are nobody's.
    if (isFailure(thrown, 'not-found', 'conflict')) return true
    options.log.warn('The status of a GitProject could not be written', { project: key, error: Failure.from(thrown) })
    return false
  }
}

async function write({ kube, cache }: StatusOptions, key: string, findings: Findings): Promise<void> {
  const object = cache.get(refFromKey(key))
  if (!object || isDeleting(object)) return
  const project = projectFrom(object)
  // What was found under an older spec says nothing of this one.
  const current = [...findings.values()].filter(({ source }) => source === sourceOf(project))
  const status = current.reduce<GitProjectStatus | undefined>(
    (sofar, finding) => statusAfter(sofar, project, finding),
    object.status,
  )
  if (current.length === 0 || isDeepStrictEqual(status, object.status)) return
  const patch = { metadata: { uid: project.uid }, status }
  await kube.patch(GitProjects, project.ref, patch, { subresource: 'status', manager: 'berth-kas' })
}
