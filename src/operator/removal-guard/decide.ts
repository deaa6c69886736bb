import type { GitOpsDeploymentSetSpec, GitOpsDeploymentSetStatus } from '../../api/index.ts'
import { minutes, seconds, timestamp } from '../../std/index.ts'

/** Since when how many have gone, of how many that there were then (or came since, where the rule counts these). */
export type Removals = NonNullable<GitOpsDeploymentSetStatus['removals']>

type Limits = Pick<NonNullable<GitOpsDeploymentSetSpec['removal']>, 'maxPercent' | 'allowEmpty'>

/** Removals one after the other count together for so long: labels are changed one by one, too. */
const TOGETHER = minutes(10)

/** From where on it could be an accident. */
export interface RemovalRule {
  /** In messages: what goes, and why. */
  what: string
  because: string
  /** The last of all go where fewer than so many of them go at once. */
  all: number
  /** A share says something of so many that there were, and of so many that go. */
  share: { of: number; from: number }
  /** What came since is no replacement of what goes. */
  countsNew: boolean
}

interface Leaving {
  /** For which there is nothing any more, and which are not on their way out. */
  leaving: number
  /** Those that there are, these included. */
  made: number
  /** As the status has it. */
  before: Removals | undefined
  /** Some of those before wait for somebody. */
  isHeld: boolean
  /** Milliseconds since 1970. */
  now: number
}

interface RemovalDecision {
  /** Why they stay for now; `undefined`: they may go. */
  readonly hold: string | undefined
  /** For the status, without those that go now. */
  readonly removals: Removals | undefined
}

/**
 * Whether what there is nothing for any more may go by itself. While it is held, what takes its place under other names does not count:
 * where a template is renamed, or a repository is made anew, all go. Pure.
 */
export function decideRemoval(
  { leaving, made, before, isHeld, now }: Leaving,
  { maxPercent = 50, allowEmpty = false }: Limits,
  { what, because, all, share, countsNew }: RemovalRule,
): RemovalDecision {
  // Who waits does not become less by waiting.
  const isGoingOn = before !== undefined && ((isHeld && leaving > 0) || now - Date.parse(before.since) < TOGETHER)
  if (leaving === 0) return { hold: undefined, removals: isGoingOn ? before : undefined }
  const { since, gone } = isGoingOn ? before : { since: timestamp(now), gone: 0 }
  const total = isGoingOn && (isHeld || !countsNew) ? before.total : gone + made
  // What is there again of what was gone does not give the others away.
  const most = isGoingOn && isHeld ? Math.max(before.held ?? 0, leaving) : leaving
  const removals = { since, total, gone, held: most }
  const going = gone + most
  const isAll = going >= total && most >= all
  if (isAll && !allowEmpty)
    return {
      hold: `all ${total} ${what} that there were would go${because}. If that is meant, set spec.removal.allowEmpty to true`,
      removals,
    }
  const isMany = total >= share.of && going >= share.from
  if (!isAll && isMany && going * 100 > total * maxPercent)
    return {
      hold: `${going} of ${total} ${what} would go within minutes, which is more than ${maxPercent}%${because}. If that is meant, set spec.removal.maxPercent to 100`,
      removals,
    }
  return { hold: undefined, removals: { since, total, gone } }
}

/** Milliseconds until they do not count any more. */
export const endOfRemovals = (removals: Removals | undefined, now: number): number | undefined =>
  removals && Math.max(Date.parse(removals.since) + TOGETHER - now, seconds(1))
