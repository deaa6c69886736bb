/**
 * Shows a person a workspace where it runs: its pod, the logs of its containers, the Events about it. Everything is asked
 * with the person's own rights, and with the credentials of the target only if they may read those. Read target.ts first.
 */
export { eventsOf, type WorkspaceEvent } from './events.ts'
export { containersOf, firstContainerOf, isMainPod, isOfSimulatedNode, linesOfLog, SHELL_SCRIPT, youngestPodOf } from './pod.ts'
export { insideTarget, type TargetLogin, type TargetReach, withTarget } from './target.ts'
export { createWholeOutput } from './whole-output.ts'
