import type { ManifestProject } from '../../agentcfg/index.ts'
import { Failure, isFailure, logFieldsOf, minutes, sayFailure, seconds, waitOf } from '../../std/index.ts'
import type { ManifestProjectStatus } from '../ports/reports.ts'
import { createBell } from './bell.ts'
import { openInventory, type ProjectInventory, withoutTemplate } from './inventory-place.ts'
import { type CommitToSync, type PassResult, syncCommit } from './pass.ts'
import { renderingOf } from './render.ts'
import type { LeadershipTerm } from './services.ts'
import { type Commit, followProject } from './source.ts'

export interface ProjectWorker {
  readonly project: ManifestProject
  /** That kas gave it; `undefined` until the first commit. */
  number(): bigint | undefined
  /** Aborted when the number is known, or why it is not. */
  readonly known: AbortSignal
  /** Ends what is under way; the next worker finishes what this one has begun. */
  stop(): Promise<void>
}

/** As often as agentk: whatever the watches say, everything is compared. */
const COMPARE = minutes(5)
/** From the moment that kas lets it in until its number is waited for no longer. */
const SILENCE = minutes(1)
const SOON = { base: seconds(1), max: seconds(20), factor: 1.3, jitter: 0.1 }

/** The newest that is known of the repository of a project. */
interface Head {
  commit: Commit | undefined
  /** Why no newer one can be had. */
  trouble: Failure | undefined
  superseded: AbortController
}

/** Brings about each new commit of one project, and sets back what is changed in the cluster. */
export function startWorker(project: ManifestProject, term: LeadershipTerm): ProjectWorker {
  const ending = new AbortController()
  const { signal } = ending
  const bell = createBell(term.clock)
  const known = new AbortController()
  let cancelSilence: (() => void) | undefined
  const head: Head = { commit: undefined, trouble: undefined, superseded: new AbortController() }
  const listener = {
    onCommit(commit: Commit) {
      head.commit = commit
      known.abort()
      // What is under way for the commit before is not worth finishing.
      head.superseded.abort()
      bell.ring()
    },
    onTrouble(failure: Failure | undefined) {
      if (failure) known.abort()
      // An empty repository has nothing to tell, and nobody is to wait for its first commit.
      else cancelSilence ??= term.clock.after(SILENCE, () => known.abort())
      if (head.trouble?.message === failure?.message) return
      head.trouble = failure
      bell.ring()
    },
  }
  const passes = createPasses(project, term, head, bell.ring)
  const loop = async () => {
    while (!signal.aborted) {
      await bell.wait(passes.rest(), signal)
      if (!signal.aborted) await passes.next(signal)
    }
  }
  // What is wrong with one project stops no other.
  const following = followProject(project, term.source, listener, signal).catch((thrown: unknown) =>
    listener.onTrouble(Failure.from(thrown)),
  )
  const done = Promise.all([following, loop()])
  return {
    project,
    number: () => head.commit?.projectId,
    known: known.signal,
    async stop() {
      ending.abort()
      cancelSilence?.()
      known.abort()
      await done
      passes.close()
    },
  }
}

function createPasses(project: ManifestProject, term: LeadershipTerm, head: Head, ring: () => void) {
  const { clock, log, reports } = term
  const render = renderingOf(project, term.renderers, term.source.yaml)
  /** Passes in a row that left something undone. */
  let tries = 0
  let next: PassResult['next'] = 'calm'
  let compareAt = 0
  /** Since when something is on its way. */
  let openSince: number | undefined
  /** It is told for as long as this worker lives: nothing remembers these objects afterwards. */
  let leftAlone: readonly string[] = []
  let status = emptyStatus(project.id)
  let opened: ProjectInventory | undefined
  let inEffect: CommitToSync | undefined
  const tell = (part: Partial<ManifestProjectStatus>) => {
    status = { ...status, ...part }
    const { trouble } = head
    const isWorse = trouble !== undefined && status.reason === ''
    reports.project(isWorse ? { ...status, reason: trouble.reason ?? 'SourceUnavailable', message: trouble.message } : status)
  }

  const syncOnce = async (commit: Commit, signal: AbortSignal): Promise<void> => {
    const renderedSince = clock.now()
    const { manifests, template } = withoutTemplate(await render(commit, signal))
    opened = await openInventory(opened, { project, term, commit, template, ring }, signal)
    const compare = clock.now() >= compareAt
    if (compare) opened.inventory.expire()
    const pass = { ...opened, project, snapshot: commit, manifests, renderedSince, compare }
    const result = await syncCommit(pass, term, signal)
    inEffect = pass
    if (compare) compareAt = clock.now() + COMPARE
    next = result.next
    tries = next === 'calm' ? 0 : tries + 1
    openSince = next === 'calm' ? undefined : (openSince ?? clock.now())
    const { next: _, leftAlone: left = [], ...said } = withTimeouts(result, project, clock.now() - (openSince ?? clock.now()))
    if (left.length > 0) leftAlone = left
    const [isIn, isNew] = [project.dryRun === 'none', status.commitId !== commit.commitId]
    tell({
      ...said,
      ...(said.reason === '' && sayLeftAlone(leftAlone)),
      ...(isIn && { commitId: commit.commitId, syncedAt: isNew ? clock.now() : status.syncedAt }),
    })
  }

  return {
    /** How long nothing is to be done if nothing is heard. */
    rest(): number {
      if (!head.commit) return COMPARE
      if (next === 'soon') return waitOf(SOON, tries)
      if (next === 'failed') return waitOf(term.backoff, tries - 1)
      return Math.max(compareAt - clock.now(), 0)
    },
    async next(signal: AbortSignal): Promise<void> {
      const { commit } = head
      if (!commit) return tell({})
      head.superseded = new AbortController()
      const either = AbortSignal.any([signal, head.superseded.signal])
      try {
        if (status.commitId !== commit.commitId) openSince = undefined
        await syncOnce(commit, either)
      } catch (thrown) {
        if (either.aborted) return
        const failure = Failure.from(thrown)
        log.warn('a project was not brought about', { project: project.id, ...logFieldsOf(commit.commitId), error: failure })
        // Somebody else wrote the inventory; what he wrote is read before the next try.
        if (isFailure(failure, 'conflict', 'already-exists')) opened?.inventory.expire()
        next = 'failed'
        tries++
        tell({ reason: failure.reason ?? 'SyncFailed', message: sayFailure(failure) })
        if (inEffect && isFailure(failure, 'invalid', 'too-large'))
          await keepInEffect({ ...inEffect, ...opened }, head, term, either)
      }
    },
    close(): void {
      if (!opened) return
      term.memories.end(opened.owner)
      term.wants.rest(opened.owner)
    },
  }
}

/** What is changed in the objects of the commit before is set back while a newer one is refused, which is what is told. */
async function keepInEffect(earlier: CommitToSync, { commit }: Head, term: LeadershipTerm, signal: AbortSignal): Promise<void> {
  const { id, dryRun } = earlier.project
  if (earlier.snapshot === commit || dryRun !== 'none') return
  const pass = { ...earlier, renderedSince: term.clock.now(), compare: false }
  await syncCommit(pass, term, signal).catch((thrown: unknown) => {
    const error = Failure.from(thrown)
    if (!signal.aborted) term.log.info('the commit before is not kept in effect', { project: id, error })
  })
}

/** Of a project of which nothing is known. */
export const emptyStatus = (id: string): ManifestProjectStatus => ({
  id,
  commitId: '',
  objects: 0,
  undone: 0,
  health: 'Unknown',
  reason: '',
  message: '',
  syncedAt: undefined,
  removed: false,
})

/** Nothing at all when there is nothing to say. */
function sayLeftAlone([first, ...others]: readonly string[]): Partial<ManifestProjectStatus> {
  if (first === undefined) return {}
  const more = others.length > 0 ? `; and ${others.length} more` : ''
  return { reason: 'LeftAlone', message: `its inventory named objects that are neither adopted nor deleted: ${first}${more}` }
}

/** A result that takes longer than its time is a fault, and the work goes on all the same. */
function withTimeouts(result: PassResult, { reconcileTimeout, pruneTimeout }: ManifestProject, since: number): PassResult {
  const { reason, message, next } = result
  if (next !== 'soon') return result
  const [limit, word] = reason === 'InProgress' ? [pruneTimeout, 'PruneTimeout'] : [reconcileTimeout, 'ReconcileTimeout']
  return since > limit ? { ...result, reason: word, message: `not so within ${limit / 1000} s: ${message}` } : result
}
