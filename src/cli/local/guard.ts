import { lastWords, statusOf } from '../../adapters/control-plane/index.ts'
import { Failure, pause, systemClock } from '../../std/index.ts'
import type { Shell } from '../shell.ts'
import type { Installation } from './installation.ts'
import { isRunning, logOf } from './parts.ts'

/** How often it is looked whether all still run, milliseconds: for a person, at once. */
const INTERVAL = 250

/** Does the work. When a part of the installation ends meanwhile, the signal that the work gets aborts, and that is the failure. */
export async function whileAllRun<T>(shell: Shell, installation: Installation, work: (shell: Shell) => Promise<T>): Promise<T> {
  const done = new AbortController()
  const lost = new AbortController()
  const working = work({ ...shell, signal: AbortSignal.any([shell.signal, lost.signal]) })
  // What fails may have needed a part that is about to end: there is another look before the watch is over.
  void working.catch(() => pause(systemClock, INTERVAL, shell.signal)).finally(() => done.abort())
  const ended = await watch(installation, done.signal)
  if (ended.length === 0 || shell.signal.aborted) return working
  lost.abort()
  await working.catch(() => undefined)
  throw endOf(ended, installation)
}

async function watch(installation: Installation, done: AbortSignal): Promise<string[]> {
  while (true) {
    const ended = endedOf(installation)
    if (ended.length > 0 || done.aborted) return ended
    await pause(systemClock, INTERVAL, done)
  }
}

/** Where there is an authority, the control plane is the folder's own. */
function endedOf({ dir, parts, authority }: Installation): string[] {
  const servers = authority === undefined ? [] : (statusOf(dir)?.dead ?? [])
  return [...servers, ...parts.filter((part) => !isRunning(dir, part)).map(({ name }) => name)]
}

function endOf(names: string[], { dir }: Installation): Failure {
  const logs = names.map((name) => logOf(dir, name))
  const said = names.map((name, at) => `${name} ended${lastWords(logs[at] ?? '')}`)
  return new Failure('unavailable', said.join('; '), { remedy: `Read ${logs.join(' and ')}.` })
}
