import type { Failure } from '../../std/index.ts'
import type { PollSighting } from './ports.ts'

/** Why there is nothing new to serve. */
export const failureIn = (sighting: PollSighting): Failure | undefined =>
  'failure' in sighting ? sighting.failure : 'snapshot' in sighting ? sighting.refused : undefined
