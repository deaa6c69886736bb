import { lastWords, statusOf } from '../../adapters/control-plane/index.ts'
import { Failure, pause, systemClock } from '../../std/index.ts'
import type { Shell } from '../shell.ts'
import type { Installation } from './installation.ts'
import { isRunning, logOf, partsOf } from './parts.ts'

/** The milliseconds from one look at the programs to the next: a person takes it for at once. */
const INTERVAL = 250

/**
 * Does the work while every part of the installation runs. When one ends, the signal that the work gets aborts, and that is the
 * failure. When another process has ended the parts, as `berth down` does, it aborts too; that is a failure only for work which is
 * not done by then.
 */
export async function watchParts(shell: Shell, installation: Installation, work: (shell: Shell) => Promise<void>): Promise<void> {
  const done = new AbortController()
  const lost = new AbortController()
  const working = work({ ...shell, signal: AbortSignal.any([shell.signal, lost.signal]) })
  // Work that fails may have needed a part that ends just now: it is looked once more before the watch is over.
  void working.catch(() => pause(systemClock, INTERVAL, shell.signal)).finally(() => done.abort())
  const failure = await watch(installation, done.signal).catch(Failure.from)
  if (failure === 'all ran' || shell.signal.aborted) return working
  lost.abort()
  if (failure instanceof Failure) {
    await working.catch(() => undefined)
    throw failure
  }
  const message = `Berth in ${installation.dir} was ended by another process`
  await working.catch((cause: unknown) => {
    throw new Failure('unavailable', message, { cause })
  })
  shell.say(`${message}.\n`)
}

async function watch(installation: Installation, done: AbortSignal): Promise<'all ran' | 'taken down' | Failure> {
  while (true) {
    const ended = endedOf(installation)
    if (ended.length > 0) {
      // The log may say a moment later why it ended.
      await pause(systemClock, INTERVAL)
      return isTakenDown(installation) ? 'taken down' : endOf(ended, installation)
    }
    if (done.aborted) return 'all ran'
    await pause(systemClock, INTERVAL, done)
  }
}

/** An installation with an authority has a control plane of its own. */
function endedOf({ dir, parts, authority }: Installation): string[] {
  const servers = authority === undefined ? [] : (statusOf(dir)?.dead ?? [])
  return [...servers, ...parts.filter((part) => !isRunning(dir, part)).map(({ name }) => name)]
}

/** A part that is ended on purpose is marked, and forgotten when it has ended. */
const isTakenDown = ({ dir, parts }: Installation): boolean =>
  partsOf(dir).every(({ pid, ending }) => ending === true || parts.every((own) => own.pid !== pid))

function endOf(names: string[], { dir }: Installation): Failure {
  const logs = names.map((name) => logOf(dir, name))
  const said = names.map((name, at) => `${name} ended${lastWords(logs[at] ?? '')}`)
  return new Failure('unavailable', said.join('; '), { remedy: `Read ${logs.join(' and ')}.` })
}
