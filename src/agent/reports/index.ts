/** Tells kas how the manifest projects do. GitLab's kas does not ask for it. */
export { createReporter, type Reporter } from './reporter.ts'
