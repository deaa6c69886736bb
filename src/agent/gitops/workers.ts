import type { ManifestProject } from '../../agentcfg/index.ts'
import { Failure, pause, waitOf } from '../../std/index.ts'
import { createRegister, type RegisteredProject } from './register.ts'
import type { InventoryLimits } from './removal.ts'
import { createRetirements } from './retirements.ts'
import type { LeadershipTerm } from './services.ts'
import { emptyStatus, type ProjectWorker, startWorker } from './worker.ts'

/** The projects that a configuration asks for. */
export interface DesiredProjects {
  agentId: bigint
  projects: readonly ManifestProject[]
  limits: InventoryLimits
}

/** The workers of one term of leadership, one for each project. */
export function createWorkers(services: Omit<LeadershipTerm, 'agentId' | 'register' | 'claim'>) {
  const { reports } = services
  const workers = new Map<string, ProjectWorker>()
  const retirements = createRetirements(workers, reports)
  let term: LeadershipTerm | undefined
  let limitsBefore: string | undefined
  const halt = async (id: string) => {
    const worker = workers.get(id)
    workers.delete(id)
    await worker?.stop()
  }
  const termFor = (agentId: bigint): LeadershipTerm => {
    if (term?.agentId !== agentId)
      term = { ...services, agentId, register: createRegister({ ...services, agentId }), claim: retirements.claim }
    return term
  }
  return {
    async exchange({ agentId, projects, limits }: DesiredProjects, signal: AbortSignal): Promise<void> {
      const current = termFor(agentId)
      const wanted = new Map(projects.map((project) => [project.id, project]))
      const over = [...workers.values()].filter(({ project }) => !isSame(project, wanted.get(project.id)))
      await Promise.all(over.map(({ project }) => halt(project.id)))
      const isLimitedAnew = limitsBefore !== JSON.stringify(limits)
      await retirements.recall(({ id }) => isLimitedAnew || wanted.has(id))
      limitsBefore = JSON.stringify(limits)
      const tell = ({ reason = 'RegisterUnavailable', message }: Failure) => {
        for (const { id } of projects) if (!workers.has(id)) reports.project({ ...emptyStatus(id), reason, message })
      }
      const known = await readRegister(current, wanted, tell, signal)
      if (!known || signal.aborted) return
      for (const project of projects) {
        if (workers.has(project.id)) continue
        reports.forget(project.id)
        workers.set(project.id, startWorker(project, current))
      }
      const left = known.filter(({ id }) => !wanted.has(id))
      for (const one of left) retirements.begin(one, limits, current, signal)
      for (const { project } of over) {
        const isToldOf = wanted.has(project.id) || left.some(({ id }) => id === project.id)
        if (!isToldOf) reports.forget(project.id)
      }
    },
    async stop(): Promise<void> {
      await Promise.all([...[...workers.keys()].map(halt), retirements.recall(() => true)])
    },
  }
}

/** Until the API server answers: one that is away comes back. */
async function readRegister(
  term: LeadershipTerm,
  wanted: ReadonlyMap<string, ManifestProject>,
  tell: (failure: Failure) => void,
  signal: AbortSignal,
): Promise<readonly RegisteredProject[] | undefined> {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      return await upToDate(term, wanted)
    } catch (thrown) {
      if (signal.aborted) return undefined
      const failure = Failure.from(thrown)
      term.log.warn('the register of projects cannot be kept', { error: failure })
      tell(failure)
      await pause(term.clock, waitOf(term.backoff, tries), signal)
    }
  }
  return undefined
}

/** The registered projects, each with the deletion that its entry has now: it may leave before its next commit comes. */
async function upToDate(
  { register }: LeadershipTerm,
  wanted: ReadonlyMap<string, ManifestProject>,
): Promise<readonly RegisteredProject[]> {
  const known = await register.read()
  for (const { number, id } of known) {
    const { deletion, dryRun } = wanted.get(id) ?? {}
    if (deletion && dryRun === 'none') await register.revise(number, (before) => before && { ...before, deletion })
  }
  return known
}

const isSame = (one: ManifestProject, other: ManifestProject | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other)
