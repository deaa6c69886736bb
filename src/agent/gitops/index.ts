/**
 * Brings manifest projects about: one worker for each, which follows its commits (source.ts), renders them (render.ts) and syncs them
 * with the engine (pass.ts), under an inventory that agentk understands (inventory.ts). supervisor.ts exchanges the workers when
 * the configuration changes; removal.ts deals with what left it.
 */
export { createSupervisor, type Supervisor } from './supervisor.ts'
