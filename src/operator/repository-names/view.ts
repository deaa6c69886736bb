import type { Statement } from '../../api/index.ts'
import { asSentence, Failure, sayFailure } from '../../std/index.ts'

/** The condition of who asks kas for names. `unseen`: why there is nothing newer; what was seen last counts on. */
export function viewStatement(unseen: Failure | undefined, what: string): Statement {
  const type = 'RepositoryInView'
  if (!unseen) return { type, status: 'True', reason: 'InView', message: `kas has the ${what} in view.` }
  const message = asSentence(`what was seen last still counts: ${sayFailure(unseen)}`)
  return { type, status: 'False', reason: unseen.reason ?? 'NotInView', message }
}

/** Nothing was told yet. */
export const waitingFor = (what: string): Failure =>
  new Failure('unavailable', `kas was asked for ${what}; there are none before something was pushed`, {
    reason: 'WaitingForRepository',
  })
