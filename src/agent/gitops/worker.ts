import type { ManifestProject } from '../../agentcfg/index.ts'
import { Failure, isFailure, minutes, sayFailure, seconds, waitOf } from '../../std/index.ts'
import type { Told } from '../ports.ts'
import { createBell } from './bell.ts'
import { type Opened, openFor, withoutTemplate } from './opening.ts'
import { bringAbout, type Verdict } from './pass.ts'
import { renderingOf } from './render.ts'
import type { Term } from './shop.ts'
import { type Commit, followProject } from './source.ts'

export interface Worker {
  readonly project: ManifestProject
  /** That kas gave it; `undefined` until the first commit. */
  number(): bigint | undefined
  /** Aborted when the number is known, or why it is not. */
  readonly known: AbortSignal
  /** Ends what is under way; what was begun is finished by whoever comes next. */
  stop(): Promise<void>
}

/** As often as agentk: whatever the watches say, everything is compared. */
const COMPARE = minutes(5)
/** From the moment that kas lets it in until its number is waited for no longer. */
const SILENCE = minutes(1)
const SOON = { base: seconds(1), max: seconds(20), factor: 1.3, jitter: 0.1 }

/** Brings about each new commit of one project, and sets back what is changed in the cluster. */
export function startWorker(project: ManifestProject, term: Term): Worker {
  const ending = new AbortController()
  const { signal } = ending
  const bell = createBell(term.clock)
  const known = new AbortController()
  let calm: (() => void) | undefined
  const desk: Desk = { commit: undefined, trouble: undefined, superseded: new AbortController() }
  const ears = {
    onCommit(commit: Commit) {
      desk.commit = commit
      known.abort()
      // What is under way for the commit before is not worth finishing.
      desk.superseded.abort()
      bell.ring()
    },
    onTrouble(failure: Failure | undefined) {
      if (failure) known.abort()
      // An empty repository has nothing to tell, and nobody is to wait for its first commit.
      else calm ??= term.clock.after(SILENCE, () => known.abort())
      if (desk.trouble?.message === failure?.message) return
      desk.trouble = failure
      bell.ring()
    },
  }
  const work = createWork(project, { term, desk, ring: bell.ring })
  const loop = async () => {
    while (!signal.aborted) {
      await bell.wait(work.rest(), signal)
      if (!signal.aborted) await work.turn(signal)
    }
  }
  const done = Promise.all([followProject(project, term.means, ears, signal), loop()])
  return {
    project,
    number: () => desk.commit?.projectId,
    known: known.signal,
    async stop() {
      ending.abort()
      calm?.()
      known.abort()
      await done
      work.close()
    },
  }
}

interface Desk {
  commit: Commit | undefined
  /** Why no newer one can be had. */
  trouble: Failure | undefined
  superseded: AbortController
}

interface Around {
  term: Term
  desk: Desk
  ring: () => void
}

interface Work {
  /** How long nothing is to be done if nothing is heard. */
  rest(): number
  turn(signal: AbortSignal): Promise<void>
  close(): void
}

interface State {
  /** In a row, that left something undone. */
  tries: number
  next: Verdict['next']
  compareAt: number
  /** Since when something is on its way. */
  openSince: number | undefined
  /** It is told for as long as this worker lives: nothing remembers these objects afterwards. */
  leftAlone: readonly string[]
}

function createWork(project: ManifestProject, { term, desk, ring }: Around): Work {
  const { clock, log, board } = term
  const render = renderingOf(project, term.renderers, term.means.yaml)
  const state: State = { tries: 0, next: 'calm', compareAt: 0, openSince: undefined, leftAlone: [] }
  let told: Told = fresh(project.id)
  let opened: Opened | undefined
  const tell = (part: Partial<Told>) => {
    told = { ...told, ...part }
    const { trouble } = desk
    const isWorse = trouble !== undefined && told.reason === ''
    board.project(isWorse ? { ...told, reason: trouble.reason ?? 'SourceUnavailable', message: trouble.message } : told)
  }

  const act = async (commit: Commit, signal: AbortSignal): Promise<void> => {
    const all = await render(commit, signal)
    const { manifests, template } = withoutTemplate(all)
    opened = await openFor(opened, { project, term, commit, template, ring }, signal)
    const { owner, inventory, inventoryId, memory } = opened
    const compare = clock.now() >= state.compareAt
    if (compare) inventory.expire()
    const pass = { project, snapshot: commit, manifests, owner, inventoryId, inventory, memory, compare }
    const verdict = await bringAbout(pass, term, signal)
    if (compare) state.compareAt = clock.now() + COMPARE
    state.next = verdict.next
    state.tries = verdict.next === 'calm' ? 0 : state.tries + 1
    state.openSince = verdict.next === 'calm' ? undefined : (state.openSince ?? clock.now())
    const { next: _, leftAlone = [], ...said } = patient(verdict, project, clock.now() - (state.openSince ?? clock.now()))
    if (leftAlone.length > 0) state.leftAlone = leftAlone
    const isIn = project.dryRun === 'none'
    tell({
      ...said,
      ...(said.reason === '' && sayLeftAlone(state.leftAlone)),
      ...(isIn && { commitId: commit.commitId }),
      ...(isIn && told.commitId !== commit.commitId && { syncedAt: clock.now() }),
    })
  }

  return {
    rest() {
      if (!desk.commit) return COMPARE
      if (state.next === 'soon') return waitOf(SOON, state.tries)
      if (state.next === 'failed') return waitOf(term.backoff, state.tries - 1)
      return Math.max(state.compareAt - clock.now(), 0)
    },
    async turn(signal) {
      const { commit } = desk
      if (!commit) return tell({})
      desk.superseded = new AbortController()
      const either = AbortSignal.any([signal, desk.superseded.signal])
      try {
        if (told.commitId !== commit.commitId) state.openSince = undefined
        await act(commit, either)
      } catch (thrown) {
        if (either.aborted) return
        const failure = Failure.from(thrown)
        log.warn('a project was not brought about', { project: project.id, commit: commit.commitId, error: failure })
        // Somebody else wrote the inventory; what he wrote is read before the next try.
        if (isFailure(failure, 'conflict', 'already-exists')) opened?.inventory.expire()
        state.next = 'failed'
        state.tries++
        tell({ reason: failure.reason ?? 'SyncFailed', message: sayFailure(failure) })
      }
    },
    close() {
      if (!opened) return
      const { owner } = opened
      term.memories.end(owner)
      term.wants.rest(owner)
    },
  }
}

/** Of a project of which nothing is known. */
export const fresh = (id: string): Told => ({
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
function sayLeftAlone([first, ...others]: readonly string[]): Partial<Told> {
  if (first === undefined) return {}
  const more = others.length > 0 ? `; and ${others.length} more` : ''
  return { reason: 'LeftAlone', message: `its inventory named objects that are neither adopted nor deleted: ${first}${more}` }
}

/** What takes longer than its time is a fault, and goes on all the same. */
function patient(verdict: Verdict, { reconcileTimeout, pruneTimeout }: ManifestProject, since: number): Verdict {
  const { reason, message, next } = verdict
  if (next !== 'soon') return verdict
  const [limit, word] = reason === 'InProgress' ? [pruneTimeout, 'PruneTimeout'] : [reconcileTimeout, 'ReconcileTimeout']
  return since > limit ? { ...verdict, reason: word, message: `not so within ${limit / 1000} s: ${message}` } : verdict
}
