import type { EventRecorder } from '../../adapters/kube/index.ts'
import { type Condition, conditionOf, isTrue, type KubeObject, type Statement } from '../../api/index.ts'
import { asSentence } from '../../std/index.ts'

export const REMOVAL_HELD = 'RemovalHeld'

/** Who may have it. */
interface Guarded extends KubeObject {
  status?: { conditions?: Condition[] }
}

export const isRemovalHeld = ({ status }: Guarded): boolean => isTrue(status?.conditions, REMOVAL_HELD)

/** Nothing is said of it before it was ever held. `hold`: why something stays for now. */
export function removalStatement({ status }: Guarded, hold: string | undefined): Statement[] {
  if (hold !== undefined) return [{ type: REMOVAL_HELD, status: 'True', reason: 'TooManyAtOnce', message: asSentence(hold) }]
  const wasHeld = conditionOf(status?.conditions, REMOVAL_HELD) !== undefined
  return wasHeld ? [{ type: REMOVAL_HELD, status: 'False', reason: 'NothingHeld', message: 'Nothing is kept from going.' }] : []
}

/** Somebody has to do something about it; it is told once. */
export function tellOfRemoval(object: Guarded, hold: string | undefined, events: EventRecorder): void {
  const [statement] = removalStatement(object, hold)
  if (statement?.status !== 'True' || conditionOf(object.status?.conditions, REMOVAL_HELD)?.message === statement.message) return
  events.record(object, { type: 'Warning', reason: 'RemovalHeld', message: statement.message })
}
