import { isAllowed, type Kube } from '../adapters/kube/index.ts'
import { type Clock, remembered, seconds } from '../std/index.ts'
import type { MayOpen } from './web/ports.ts'

/** An answer counts so long for who asks next. */
const FRESH = seconds(3)
const MOST = 10_000

/**
 * Asks the API server whether the roles of the cluster allow the verb `open` on the Workspace. That is one fact among others: whether
 * somebody gets in is decided in engines/access/judge.ts.
 */
export function createMayOpen(kube: Kube, clock: Clock): MayOpen {
  const ask = ([{ user, groups }, { ref }]: Parameters<MayOpen>): Promise<boolean> => {
    // As the API server has it for everybody whom it knows.
    const subject = { user, groups: [...groups, 'system:authenticated'] }
    return isAllowed(kube, subject, { group: 'berth.dev', resource: 'workspaces', verb: 'open', ...ref })
  }
  // The key has all that is asked for, delimited: no two questions have one key.
  const keyOf = ([{ user, groups }, { ref }]: Parameters<MayOpen>): string =>
    JSON.stringify([user, groups, ref.namespace, ref.name])
  const answer = remembered(ask, keyOf, clock, { fresh: FRESH, most: MOST })
  return (...question) => answer(question)
}
