import { manifestProjects } from '../../agentcfg/index.ts'
import { createSyncMemories, createWants } from '../../engines/gitops/index.ts'
import { hours } from '../../std/index.ts'
import type { Follower } from '../ports.ts'
import { createBell } from './bell.ts'
import { createCrew, type Wish } from './crew.ts'
import type { Shop } from './shop.ts'

/** The part of the agent that brings manifest projects about. */
export interface Supervisor extends Follower {
  /** Works until the signal aborts: as long as this pod leads. Everything has stopped when it ends. */
  lead(signal: AbortSignal): Promise<void>
}

export type SupervisorOptions = Omit<Shop, 'agentId'>

/** Only the newest configuration counts: what comes while workers are exchanged is looked at afterwards. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const state: { wish?: Wish } = {}
  const bell = createBell(options.clock)
  return {
    prepare(configuration) {
      const projects = manifestProjects(configuration)
      const { agentId, gitops } = configuration
      // What was made before a kind was forbidden may still be deleted.
      const limits = { namespaces: gitops?.namespaces ?? [], allowedKinds: [] }
      return () => {
        state.wish = { agentId, projects, limits }
        bell.ring()
      }
    },
    async lead(signal) {
      const { clock, log } = options
      const memories = createSyncMemories({ clock, log })
      const wants = createWants({ clock })
      const crew = createCrew({ ...options, memories, wants })
      let done: Wish | undefined
      while (!signal.aborted) {
        const { wish } = state
        if (wish && wish !== done) await crew.follow(wish, signal)
        done = wish
        if (state.wish === done) await bell.wait(hours(1), signal)
      }
      await crew.stop()
      memories.close()
    },
  }
}
