/**
 * Brings manifest projects about: one worker for each, which follows its commits (source.ts), renders them (render.ts) and syncs them
 * with the engine (pass.ts), under an inventory that agentk understands (inventory.ts, inventory-place.ts).
 * Which projects there are is remembered in register.ts, where no tenant writes. supervisor.ts hears of configurations,
 * workers.ts exchanges the workers when they change; retirements.ts and removal.ts end the projects that left them.
 * release.ts hands everything back to agentk.
 */
export { type ReleasedProject, releaseProjects } from './release.ts'
export type { Renderers } from './render.ts'
export { createSupervisor } from './supervisor.ts'
