import { manifestProjects } from '../../agentcfg/index.ts'
import { createSyncMemories, createWants } from '../../engines/gitops/index.ts'
import { hours } from '../../std/index.ts'
import type { ConfigurationFollower } from '../ports/configuration-follower.ts'
import { createBell } from './bell.ts'
import type { AgentSyncServices } from './services.ts'
import { createWorkers, type DesiredProjects } from './workers.ts'

/** The part of the agent that brings manifest projects about. */
interface Supervisor extends ConfigurationFollower {
  /** Works until the signal aborts: as long as this pod leads. Everything has stopped when it ends. */
  lead(signal: AbortSignal): Promise<void>
}

/** Only the newest configuration counts: one that comes while workers are exchanged is looked at afterwards. */
export function createSupervisor(services: AgentSyncServices): Supervisor {
  const bell = createBell(services.clock)
  let newest: DesiredProjects | undefined
  return {
    prepare(configuration) {
      const projects = manifestProjects(configuration)
      const { agentId, gitops } = configuration
      // An object that was made before its kind was forbidden may still be deleted.
      const limits = { namespaces: gitops?.namespaces ?? [], allowedKinds: [] }
      return () => {
        newest = { agentId, projects, limits }
        bell.ring()
      }
    },
    async lead(signal) {
      const { clock, log } = services
      const memories = createSyncMemories({ clock, log })
      const workers = createWorkers({ ...services, memories, wants: createWants({ clock }) })
      let done: DesiredProjects | undefined
      while (!signal.aborted) {
        const desired = newest
        if (desired && desired !== done) await workers.exchange(desired, signal)
        done = desired
        if (newest === done) await bell.wait(hours(1), signal)
      }
      await workers.stop()
      memories.close()
    },
  }
}
