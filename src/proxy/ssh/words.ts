import type { SshChannel } from '../../adapters/ssh/index.ts'
import type { Ref } from '../../api/index.ts'
import { Failure, harmlessLine, type Log, sayFailure } from '../../std/index.ts'
import type { RoutedWorkspace } from '../web/ports.ts'

export const titleOf = ({ name, namespace }: Ref): string => `${name} in ${namespace}`

/** Why nobody can work in it just now, as a sentence; `undefined` where it runs, or nobody can tell. */
export function whyNotRunning({ ref, status, isWanted }: RoutedWorkspace): string | undefined {
  const { actualState, failure, stoppedBecause, step } = status
  const object = `${ref.name} -n ${ref.namespace}`
  if (actualState === 'Running' || actualState === 'Unknown') return undefined
  if (actualState === 'Failed' || actualState === 'Error')
    return `${titleOf(ref)} could not start${failure ? `: ${failure.message}` : ''}. See why with: berth describe ${object}`
  if (!isWanted)
    return `${titleOf(ref)} is stopped${stoppedBecause ? ` (${stoppedBecause})` : ''}. Start it with: berth start ${object}`
  return `${titleOf(ref)} is starting${step ? ` (${step.name})` : ''}. Try again in a moment.`
}

/** As ssh itself ends where it could not do what was asked. */
const NOT_RUN = 255

/** Says why it was not done, and ends. */
export function tell(channel: SshChannel, thrown: unknown, log: Log): void {
  // It has been closed meanwhile: there is nobody to be told.
  if (channel.closed.aborted) return
  const failure = Failure.from(thrown)
  if (failure.code === 'internal') log.error('A program could not be run over SSH', { error: failure })
  else log.info('A program was not run over SSH', { error: failure })
  const words =
    failure.code === 'internal' ? 'Something went wrong here; the cause is in the log of the proxy.' : sayFailure(failure)
  void channel.write(Buffer.from(`${harmlessLine(words)}\r\n`), 'stderr').then(() => channel.end(NOT_RUN))
}
