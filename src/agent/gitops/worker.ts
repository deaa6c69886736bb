import type { ManifestProject } from '../../agentcfg/index.ts'
import type { Manifest } from '../../engines/gitops/index.ts'
import { Failure, isFailure, minutes, seconds, waitOf } from '../../std/index.ts'
import type { Told } from '../ports.ts'
import { createBell } from './bell.ts'
import { type AgentInventory, INVENTORY_ID } from './inventory.ts'
import { bringAbout, type Verdict } from './pass.ts'
import { renderingOf } from './render.ts'
import { type Found, inventoryFor, inventoryIdOf, ownerIdOf, type Term } from './shop.ts'
import { type Commit, followProject } from './source.ts'

export interface Worker {
  readonly project: ManifestProject
  /** Ends what is under way; what was begun is finished by whoever comes next. */
  stop(): Promise<void>
}

/** As often as agentk: whatever the watches say, everything is compared. */
const COMPARE = minutes(5)
const SOON = { base: seconds(1), max: seconds(20), factor: 1.3, jitter: 0.1 }

/** Brings about each new commit of one project, and sets back what is changed in the cluster. `formers`: inventories of it elsewhere. */
export function startWorker(project: ManifestProject, term: Term, formers: readonly Found[]): Worker {
  const ending = new AbortController()
  const { signal } = ending
  const bell = createBell(term.clock)
  const desk: Desk = { commit: undefined, trouble: undefined, superseded: new AbortController() }
  const ears = {
    onCommit(commit: Commit) {
      desk.commit = commit
      // What is under way for the commit before is not worth finishing.
      desk.superseded.abort()
      bell.ring()
    },
    onTrouble(failure: Failure | undefined) {
      if (desk.trouble?.message === failure?.message) return
      desk.trouble = failure
      bell.ring()
    },
  }
  const work = createWork(project, { term, formers, desk, ring: bell.ring })
  const loop = async () => {
    while (!signal.aborted) {
      await bell.wait(work.rest(), signal)
      if (!signal.aborted) await work.turn(signal)
    }
  }
  const done = Promise.all([followProject(project, term.means, ears, signal), loop()])
  return {
    project,
    async stop() {
      ending.abort()
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
  formers: readonly Found[]
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
}

function createWork(project: ManifestProject, { term, formers, desk, ring }: Around): Work {
  const { clock, log, board } = term
  const render = renderingOf(project, term.renderers)
  const state: State = { tries: 0, next: 'calm', compareAt: 0, openSince: undefined }
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
    opened = await openFor(opened, { project, term, formers, commit, template, ring }, signal)
    const { owner, inventory, inventoryId, ledger } = opened
    const compare = clock.now() >= state.compareAt
    if (compare) inventory.expire()
    const verdict = await bringAbout(
      { project, snapshot: commit, manifests, owner, inventoryId, inventory, ledger, compare },
      term,
      signal,
    )
    if (compare) state.compareAt = clock.now() + COMPARE
    state.next = verdict.next
    state.tries = verdict.next === 'calm' ? 0 : state.tries + 1
    state.openSince = verdict.next === 'calm' ? undefined : (state.openSince ?? clock.now())
    const { next: _, ...said } = patient(verdict, project, clock.now() - (state.openSince ?? clock.now()))
    const isIn = project.dryRun === 'none'
    tell({
      ...said,
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
      term.ledgers.end(owner)
      term.wants.rest(owner)
    },
  }
}

const fresh = (id: string): Told => ({
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

const sayFailure = ({ message, remedy }: Failure): string => (remedy === undefined ? message : `${message}. ${remedy}`)

/** What takes longer than its time is a fault, and goes on all the same. */
function patient(verdict: Verdict, { reconcileTimeout, pruneTimeout }: ManifestProject, since: number): Verdict {
  const { reason, message, next } = verdict
  if (next !== 'soon') return verdict
  const [limit, word] = reason === 'InProgress' ? [pruneTimeout, 'PruneTimeout'] : [reconcileTimeout, 'ReconcileTimeout']
  return since > limit ? { ...verdict, reason: word, message: `not so within ${limit / 1000} s: ${message}` } : verdict
}

interface Opened {
  name: string
  owner: string
  inventoryId: string
  inventory: AgentInventory
  ledger: ReturnType<Term['ledgers']['of']>
}

interface Opening {
  project: ManifestProject
  term: Term
  formers: readonly Found[]
  commit: Commit
  template: Template | undefined
  ring: () => void
}

/** Which inventory it is turns out with the first commit: it bears the number that kas gave the project. */
async function openFor(before: Opened | undefined, opening: Opening, signal: AbortSignal): Promise<Opened> {
  const { project, term, formers, commit, template, ring } = opening
  const inventoryId = template?.inventoryId ?? inventoryIdOf(term.agentId, commit.projectId)
  const namespace = template?.namespace ?? project.defaultNamespace
  const name = `${namespace}/${inventoryId}`
  if (before?.name === name) return before
  const owner = ownerIdOf(term.agentId, commit.projectId)
  const whose = { id: project.id, deletion: project.deletion, owner, inventoryId }
  const inventory = inventoryFor(term, { ...whose, namespace, name: template?.name })
  for (const former of formers) {
    signal.throwIfAborted()
    if (former.namespace === namespace && former.inventoryId === inventoryId) continue
    // The same project under another namespace: what stands there is ours still, and its old list is needed no more.
    if (former.inventoryId === inventoryId) await inventory.inherit(inventoryFor(term, { ...whose, namespace: former.namespace }))
  }
  await inventory.sign()
  return { name, owner, inventoryId, inventory, ledger: term.ledgers.of(owner, '', ring) }
}

interface Template {
  inventoryId: string
  name: string
  namespace: string | undefined
}

/** A repository may bring the ConfigMap of its inventory along, as those for agentk could. */
function withoutTemplate(all: readonly Manifest[]): { manifests: readonly Manifest[]; template: Template | undefined } {
  const templates = all.filter(
    ({ object }) => object.kind === 'ConfigMap' && object.metadata.labels?.[INVENTORY_ID] !== undefined,
  )
  const [only, second] = templates
  if (!only) return { manifests: all, template: undefined }
  if (second)
    throw new Failure(
      'invalid',
      `${only.source} and ${second.source} are both labelled ${INVENTORY_ID}; there is one inventory only`,
      {
        reason: 'SeveralInventories',
      },
    )
  const { labels, name, namespace } = only.object.metadata
  return {
    manifests: all.filter((one) => one !== only),
    template: { inventoryId: labels?.[INVENTORY_ID] ?? '', name, namespace },
  }
}
