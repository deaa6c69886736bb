import type { Ref } from '../../api/index.ts'
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
