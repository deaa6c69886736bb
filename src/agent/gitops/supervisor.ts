import { type ManifestProject, manifestProjects } from '../../agentcfg/index.ts'
import { createLedgers, createWants } from '../../engines/gitops/index.ts'
import { Failure, hours, pause, waitOf } from '../../std/index.ts'
import type { Follower } from '../ports.ts'
import { type Bell, createBell } from './bell.ts'
import { retire } from './removal.ts'
import { type Found, inventoriesIn, type Shop, type Term } from './shop.ts'
import { startWorker, type Worker } from './worker.ts'

/** The part of the agent that brings manifest projects about. */
export interface Supervisor extends Follower {
  /** Works until the signal aborts: as long as this pod leads. Everything has stopped when it ends. */
  lead(signal: AbortSignal): Promise<void>
}

export type SupervisorOptions = Omit<Shop, 'agentId'>

interface Wish {
  agentId: bigint
  projects: readonly ManifestProject[]
  namespaces: readonly string[]
}

/** Only the newest configuration counts: what comes while workers are exchanged is looked at afterwards. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const state: { wish?: Wish } = {}
  const bell = createBell(options.clock)
  return {
    prepare(configuration) {
      const projects = manifestProjects(configuration)
      const { agentId, gitops } = configuration
      return () => {
        state.wish = { agentId, projects, namespaces: gitops?.namespaces ?? [] }
        bell.ring()
      }
    },
    async lead(signal) {
      const { clock, log } = options
      const ledgers = createLedgers({ clock, log })
      const wants = createWants({ clock })
      const crew = createCrew({ ...options, ledgers, wants }, bell)
      let done: Wish | undefined
      while (!signal.aborted) {
        const { wish } = state
        if (wish && wish !== done) await crew.follow(wish, signal)
        done = wish
        if (state.wish === done) await bell.wait(hours(1), signal)
      }
      await crew.stop()
      ledgers.close()
    },
  }
}

interface Crew {
  follow(wish: Wish, signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

type Means = Omit<Term, 'agentId'>

function createCrew(means: Means, bell: Bell): Crew {
  const workers = new Map<string, Worker>()
  const retiring = new Map<string, { ending: AbortController; done: Promise<void> }>()
  const halt = async (id: string) => {
    const worker = workers.get(id)
    workers.delete(id)
    await worker?.stop()
  }
  return {
    async follow({ agentId, projects, namespaces }, signal) {
      const term: Term = { ...means, agentId }
      const wanted = new Map(projects.map((project) => [project.id, project]))
      const over = [...workers.values()].filter(({ project }) => !isSame(project, wanted.get(project.id)))
      await Promise.all(over.map(({ project }) => halt(project.id)))
      for (const [id, { ending, done }] of retiring) {
        if (wanted.has(id)) ending.abort()
        if (wanted.has(id)) await done
        if (wanted.has(id)) retiring.delete(id)
      }
      const found = await patiently(() => inventoriesIn(term, namespaces, signal), term, signal)
      if (!found || signal.aborted) return
      for (const project of projects) {
        if (workers.has(project.id)) continue
        means.board.forget(project.id)
        workers.set(
          project.id,
          startWorker(
            project,
            term,
            found.filter((one) => one.project === project.id),
          ),
        )
      }
      const former = over.map(({ project }) => project).filter(({ id }) => !wanted.has(id))
      for (const one of leftIn(found, wanted, former)) {
        if (retiring.has(one.project)) continue
        const ending = new AbortController()
        const either = AbortSignal.any([signal, ending.signal])
        retiring.set(one.project, { ending, done: retire(one, { namespaces }, term, either) })
      }
      for (const { id } of former) if (!retiring.has(id)) means.board.forget(id)
      if (signal.aborted) bell.ring()
    },
    async stop() {
      for (const { ending } of retiring.values()) ending.abort()
      await Promise.all([...[...workers.keys()].map(halt), ...[...retiring.values()].map(({ done }) => done)])
    },
  }
}

/** Inventories of projects that are in the configuration no more. */
const leftIn = (
  found: readonly Found[],
  wanted: ReadonlyMap<string, ManifestProject>,
  former: readonly ManifestProject[],
): Found[] =>
  found
    .filter(({ project }) => !wanted.has(project))
    .map((one) => ({ ...one, deletion: former.find(({ id }) => id === one.project)?.deletion ?? one.deletion }))

const isSame = (one: ManifestProject, other: ManifestProject | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** An API server that is away comes back. */
async function patiently<T>(look: () => Promise<T>, { clock, log, backoff }: Term, signal: AbortSignal): Promise<T | undefined> {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      return await look()
    } catch (thrown) {
      if (signal.aborted) return undefined
      log.warn('the inventories cannot be read', { error: Failure.from(thrown) })
      await pause(clock, waitOf(backoff, tries), signal)
    }
  }
  return undefined
}
