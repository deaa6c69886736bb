import { isDeepStrictEqual } from 'node:util'
import { describeRevision } from '../../adapters/git/index.ts'
import type { Cache, EventRecorder, Kube } from '../../adapters/kube/index.ts'
import {
  type GitProject,
  type GitProjectStatus,
  GitProjects,
  isDeleting,
  keyOf,
  refFromKey,
  withConditions,
} from '../../api/index.ts'
import {
  type Clock,
  createWorkQueue,
  Failure,
  isFailure,
  type Log,
  logFieldsOf,
  seconds,
  type Tracer,
  timestamp,
  type WorkQueue,
} from '../../std/index.ts'
import type { PollOutcome, Polls } from '../ports/ports.ts'
import { sentenceOf } from '../ports/refusals.ts'
import { isOwnPath, type PathHolders } from '../projects/path-holders.ts'
import { byPath, projectFrom, sourceOf } from '../projects/project.ts'
import { lookFirst } from './first-look.ts'
import { isPathNews, pathStatement } from './path.ts'
import { INTERNAL, newCommitIn, type PollFinding, statusAfter } from './status.ts'

export interface StatusOptions {
  /** Its writes show in the cache at once. */
  kube: Kube
  cache: Cache<GitProject>
  holders: PathHolders
  polls: Polls
  events: EventRecorder
  clock: Clock
  log: Log
  tracer: Tracer
}

/** Results for one project that are not written yet, by revision. */
type Findings = Map<string, PollFinding>

const AGAIN = seconds(5)
const WRITERS = 4

/** Writes what polls find into the status of the projects, each finding once. */
export function reportStatus(options: StatusOptions) {
  const { polls, cache, holders, clock } = options
  const unwritten = new Map<string, Findings>()
  const queue: WorkQueue = createWorkQueue({
    clock,
    concurrency: WRITERS,
    groupOf: (key) => refFromKey(key).namespace ?? '',
    async work(key) {
      const findings = unwritten.get(key) ?? new Map<string, PollFinding>()
      unwritten.delete(key)
      if (await isWritten(options, key, findings)) return
      // What has been found meanwhile is newer.
      unwritten.set(key, new Map([...findings, ...(unwritten.get(key) ?? [])]))
      queue.addAfter(key, AGAIN)
    },
  })
  polls.onOutcome((outcome) => {
    for (const key of note(unwritten, outcome, clock.now())) queue.add(key)
    tellRefusal(outcome, options)
  })
  const stopLooking = lookFirst(cache, polls)
  const stopComparing = onPathChange(cache, holders, (key) => queue.add(key))
  return {
    async stop() {
      stopLooking()
      stopComparing()
      await queue.stop()
    },
  }
}

/** Rings for each project whose path another one has, or had before the change, or that is not its namespace's. */
function onPathChange(cache: Cache<GitProject>, holders: PathHolders, notify: (key: string) => void): () => void {
  const notifyFor = (path: string | undefined) => {
    const all = path === undefined ? [] : cache.by(byPath, path)
    for (const { metadata } of all) notify(keyOf(metadata))
  }
  const notifyAll = () => {
    for (const { metadata, spec } of cache.all())
      if (!isOwnPath(metadata.namespace ?? '', spec.path) || cache.by(byPath, spec.path).length > 1) notifyFor(spec.path)
  }
  notifyAll()
  const forgetHolders = holders.onChange(notifyAll)
  const forgetProjects = cache.onChange((now, before) => {
    const paths = new Set([now?.spec.path, before?.spec.path])
    for (const path of paths) notifyFor(path)
  })
  return () => {
    forgetHolders()
    forgetProjects()
  }
}

/** Keeps the finding for everybody whose poll it was; gives their keys. */
function note(
  unwritten: Map<string, Findings>,
  { projects, revision, sighting, isNews, since }: PollOutcome,
  foundAt: number,
): string[] {
  return projects.map((project) => {
    const key = keyOf(project.ref)
    const findings = unwritten.get(key) ?? new Map<string, PollFinding>()
    const name = describeRevision(revision)
    // Two followers of one project have one poll, and what is not written yet is still news.
    const finding = {
      source: sourceOf(project),
      revision,
      name,
      sighting,
      isNews: isNews || findings.get(name)?.isNews === true,
      foundAt,
      since,
    }
    unwritten.set(key, findings.set(name, finding))
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

async function write(
  { kube, cache, holders, clock, events, log, tracer }: StatusOptions,
  key: string,
  findings: Findings,
): Promise<void> {
  const object = cache.get(refFromKey(key))
  if (!object || isDeleting(object)) return
  const project = projectFrom(object)
  // What was found under an older spec says nothing of this one.
  const current = [...findings.values()].filter(({ source }) => source === sourceOf(project))
  const found = current.reduce<GitProjectStatus | undefined>(
    (sofar, finding) => statusAfter(sofar, project, finding),
    object.status,
  )
  const path = pathStatement(object, cache.by(byPath, object.spec.path), holders)
  const status = path ? { ...found, conditions: withConditions(found?.conditions, [path], timestamp(clock.now())) } : found
  if (!status || isDeepStrictEqual(status, object.status)) return
  if (path && isPathNews(object, status)) events.record(object, { type: 'Warning', reason: path.reason, message: path.message })
  const patch = { metadata: { uid: project.uid }, status }
  await kube.patch(GitProjects, project.ref, patch, { subresource: 'status', manager: 'berth-kas' })
  tellCommits(current, object, { log, tracer })
}

/** Of whatever ref: the status speaks only of those of the default branch. */
function tellRefusal({ projects, refused }: PollOutcome, { cache, events }: Pick<StatusOptions, 'cache' | 'events'>): void {
  if (!refused) return
  // One for each who follows it.
  const byKey = new Map(projects.map((project) => [keyOf(project.ref), project]))
  for (const project of byKey.values()) {
    const object = cache.get(project.ref)
    const { reason = '' } = refused
    if (object && sourceOf(projectFrom(object)) === sourceOf(project))
      events.record(object, { type: 'Warning', reason, message: sentenceOf(refused, INTERNAL) })
  }
}

/** Each new commit once: from now on the status has it, also for another kas and for the one after this. */
function tellCommits(
  findings: readonly PollFinding[],
  { metadata, status }: GitProject,
  { log, tracer }: Pick<StatusOptions, 'log' | 'tracer'>,
): void {
  const told = new Set<string>()
  for (const { sighting, isNews, since, foundAt } of findings) {
    const { refName, commit } = newCommitIn(status, sighting) ?? {}
    if (!isNews || !refName || !commit || told.has(commit)) continue
    told.add(commit)
    const owner = `GitProject ${keyOf(metadata)}`
    log.info('A commit was found', { owner, ref: refName, ...logFieldsOf(commit) })
    const attributes = { 'berth.owner': owner, 'vcs.ref.head.revision': commit, ...attributesOf(refName) }
    tracer.recordRoot(commit, { name: 'push', began: since, ended: foundAt, attributes })
  }
}

/** As OpenTelemetry has them: https://opentelemetry.io/docs/specs/semconv/registry/attributes/vcs/ */
function attributesOf(refName: string): Record<string, string> {
  const [, kind, name = refName] = /^refs\/(heads|tags)\/(.+)$/.exec(refName) ?? []
  return { 'vcs.ref.head.name': name, ...(kind && { 'vcs.ref.head.type': kind === 'tags' ? 'tag' : 'branch' }) }
}
