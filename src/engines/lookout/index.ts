/**
 * What a person may see of a workspace where it runs: its pod, the logs of its containers, what was told about it. Everything is asked
 * with the person's own rights, and with the credentials of the target only if they may read those. Read target.ts first.
 */
export { eventsOf, type Told } from './events.ts'
export { containersOf, linesOfLog, youngestPodOf } from './pod.ts'
export { type Sight, withTarget } from './target.ts'
