import type { ManifestProject } from '../../agentcfg/index.ts'
import { Failure, pause, waitOf } from '../../std/index.ts'
import { createRegister, type Registered } from './register.ts'
import type { Limits } from './removal.ts'
import { createRetirements } from './retirements.ts'
import type { Term } from './shop.ts'
import { fresh, startWorker, type Worker } from './worker.ts'

/** What a configuration asks for. */
export interface Wish {
  agentId: bigint
  projects: readonly ManifestProject[]
  limits: Limits
}

/** The workers of one term of leadership, one for each project. */
export interface Crew {
  follow(wish: Wish, signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

export type Means = Omit<Term, 'agentId' | 'register' | 'claim'>

export function createCrew(means: Means): Crew {
  const workers = new Map<string, Worker>()
  const retirements = createRetirements(workers, means.board)
  const state: { term?: Term; limits?: string } = {}
  const halt = async (id: string) => {
    const worker = workers.get(id)
    workers.delete(id)
    await worker?.stop()
  }
  const termFor = (agentId: bigint): Term => {
    if (state.term?.agentId === agentId) return state.term
    state.term = { ...means, agentId, register: createRegister({ ...means, agentId }), claim: retirements.claim }
    return state.term
  }
  return {
    async follow({ agentId, projects, limits }, signal) {
      const term = termFor(agentId)
      const wanted = new Map(projects.map((project) => [project.id, project]))
      const over = [...workers.values()].filter(({ project }) => !isSame(project, wanted.get(project.id)))
      await Promise.all(over.map(({ project }) => halt(project.id)))
      const isLimitedAnew = state.limits !== JSON.stringify(limits)
      await retirements.recall(({ id }) => isLimitedAnew || wanted.has(id))
      state.limits = JSON.stringify(limits)
      const tell = ({ reason = 'RegisterUnavailable', message }: Failure) => {
        for (const { id } of projects) if (!workers.has(id)) means.board.project({ ...fresh(id), reason, message })
      }
      const known = await patiently(() => upToDate(term, wanted), tell, term, signal)
      if (!known || signal.aborted) return
      for (const project of projects) {
        if (workers.has(project.id)) continue
        means.board.forget(project.id)
        workers.set(project.id, startWorker(project, term))
      }
      const left = known.filter(({ id }) => !wanted.has(id))
      for (const one of left) retirements.begin(one, limits, term, signal)
      for (const { project } of over) {
        const isToldOf = wanted.has(project.id) || left.some(({ id }) => id === project.id)
        if (!isToldOf) means.board.forget(project.id)
      }
    },
    async stop() {
      await Promise.all([...[...workers.keys()].map(halt), retirements.recall(() => true)])
    },
  }
}

/** What is registered, each project with the word that its entry has now: it may leave before its next commit comes. */
async function upToDate({ register }: Term, wanted: ReadonlyMap<string, ManifestProject>): Promise<readonly Registered[]> {
  const known = await register.read()
  for (const { number, id } of known) {
    const { deletion, dryRun } = wanted.get(id) ?? {}
    if (deletion && dryRun === 'none') await register.revise(number, (before) => before && { ...before, deletion })
  }
  return known
}

const isSame = (one: ManifestProject, other: ManifestProject | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** An API server that is away comes back. */
async function patiently<T>(
  look: () => Promise<T>,
  tell: (failure: Failure) => void,
  { clock, log, backoff }: Term,
  signal: AbortSignal,
): Promise<T | undefined> {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      return await look()
    } catch (thrown) {
      if (signal.aborted) return undefined
      const failure = Failure.from(thrown)
      log.warn('the register of projects cannot be kept', { error: failure })
      tell(failure)
      await pause(clock, waitOf(backoff, tries), signal)
    }
  }
  return undefined
}
