import type { Projects } from '../project.ts'

/** Something has changed among the projects, or nobody waits any more. */
export function newsOf(projects: Projects, signal: AbortSignal): { promise: Promise<void>; close: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const forget = projects.onChange(() => resolve())
  const stop = () => resolve()
  signal.addEventListener('abort', stop, { once: true })
  return {
    promise,
    close() {
      forget()
      signal.removeEventListener('abort', stop)
    },
  }
}
