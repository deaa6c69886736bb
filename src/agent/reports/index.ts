/**
 * Tells kas how the manifest projects do: what the other parts write on the board, when it has changed, at most once a second.
 * Only the pod that leads does. GitLab's kas does not know the call, and that is no fault.
 */
export { createReporter, type Reporter } from './reporter.ts'
