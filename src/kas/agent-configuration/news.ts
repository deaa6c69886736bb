import type { Projects } from '../project.ts'

/** A project of this path has come, gone or changed, or nobody waits any more. */
export function newsOf(projects: Projects, path: string, signal: AbortSignal): { promise: Promise<void>; close: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const forget = projects.onChangeAt(path, resolve)
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
