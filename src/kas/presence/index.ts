/**
 * Which kas are there. Each has a Lease that it renews; who sees a Lease that is not renewed any more takes its kas for dead. Nobody
 * leads by it: it only says whose word in the status of Agents still counts. Read presence.ts.
 */
export { createPresence, type PresenceOptions } from './presence.ts'
