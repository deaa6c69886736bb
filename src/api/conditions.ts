import { beginningOf } from '../std/index.ts'

/** metav1.Condition. */
export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
  lastTransitionTime: string
  observedGeneration?: number
}

/** A condition as a reconcile states it; the loop adds the time of the last change. */
export type Statement = Omit<Condition, 'lastTransitionTime'>

/** The reason of a manifest project of which nobody tells how it does: nothing is known to be wrong. */
export const NOT_REPORTED = 'NotReported'

/** A condition that is False. */
export const notTrue = (type: string, reason: string, message: string): Statement => ({ type, status: 'False', reason, message })

/** A longer message would make the whole status Invalid, and then nothing of it would be told. Characters, with the ellipsis. */
const LONGEST = 32_767

/** The new list: statements in their order, then whatever stood there of other types. Times move only with `status`. */
export function withConditions(
  before: readonly Condition[] | undefined,
  statements: readonly Statement[],
  now: string,
): Condition[] {
  const old = new Map((before ?? []).map((condition) => [condition.type, condition]))
  const stated = statements.map((statement) => {
    const was = old.get(statement.type)
    old.delete(statement.type)
    const message = beginningOf(statement.message, LONGEST)
    return { ...statement, message, lastTransitionTime: was && was.status === statement.status ? was.lastTransitionTime : now }
  })
  return [...stated, ...old.values()]
}

/** Of conditions as they are in a status, or as a reconcile states them. */
export const conditionOf = <C extends Pick<Condition, 'type'>>(list: readonly C[] | undefined, type: string): C | undefined =>
  list?.find((condition) => condition.type === type)

export const isTrue = (list: readonly { readonly type: string; readonly status: string }[] | undefined, type: string): boolean =>
  conditionOf(list, type)?.status === 'True'
