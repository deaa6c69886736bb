import type { GitOpsDeploymentSetSpec, GitOpsDeploymentSetStatus } from '../../api/index.ts'
import { minutes, timestamp } from '../../std/index.ts'

/** Since when how many have gone, of how many that there were then. */
export type Removals = NonNullable<GitOpsDeploymentSetStatus['removals']>

/** Removals one after the other count together for so long: labels are changed one by one, too. */
export const TOGETHER = minutes(10)

/** From so many on a share says something. */
const FEW = 10

interface Leaving {
  /** For which there is no element any more, and which are not on their way out. */
  leaving: number
  /** Those that were made for the set, these included. */
  made: number
  /** As the status has it. */
  before: Removals | undefined
  /** Some of those before wait for somebody. */
  isHeld: boolean
  /** Milliseconds since 1970. */
  now: number
}

export interface RemovalDecision {
  /** Why they stay for now; `undefined`: they may go. */
  readonly hold: string | undefined
  /** For the status, without those that go now. */
  readonly removals: Removals | undefined
}

/**
 * Whether what has no element any more may go by itself. Those that take their places under other names do not count: where a template
 * is renamed, all go. Pure.
 */
export function decideRemoval(
  { leaving, made, before, isHeld, now }: Leaving,
  { maxPercent = 50, allowEmpty = false }: NonNullable<GitOpsDeploymentSetSpec['removal']>,
): RemovalDecision {
  // Who waits does not become less by waiting.
  const isGoingOn = before !== undefined && ((isHeld && leaving > 0) || now - Date.parse(before.since) < TOGETHER)
  const current = isGoingOn ? before : { since: timestamp(now), total: made, gone: 0 }
  if (leaving === 0) return { hold: undefined, removals: isGoingOn ? before : undefined }
  const [going, total] = [current.gone + leaving, current.total]
  const isAll = going >= total
  if (isAll && !allowEmpty)
    return held(
      current,
      `all ${total} GitOpsDeployments that there were would go. If that is meant, set spec.removal.allowEmpty to true`,
    )
  if (!isAll && total >= FEW && going * 100 > total * maxPercent)
    return held(
      current,
      `${going} of ${total} GitOpsDeployments would go within minutes, which is more than ${maxPercent}%. If that is meant, set spec.removal.maxPercent to 100`,
    )
  return { hold: undefined, removals: current }
}

const held = (removals: Removals, hold: string): RemovalDecision => ({ hold, removals })
