import type { GitOpsDeployment } from '../../../api/index.ts'
import type { CommitOutcome, LastTrouble } from '../status/outcome.ts'

export type Notification = NonNullable<GitOpsDeployment['spec']['notifications']>[number]

export type Result = NonNullable<Notification['outcomes']>[number]

/** The part of a status that is told to others. */
export interface ToldStatus {
  lastOutcome?: CommitOutcome | undefined
  lastTrouble?: LastTrouble | undefined
}

/** One moment, told to each receiver once. */
export interface CommitNews {
  /** What it is; where it is more than one thing, each receiver is told the first that it wants. */
  results: readonly Result[]
  /** The commit that it is about; who wrote it, where that is known. */
  commit: Omit<CommitOutcome, 'result'>
  /** When the trouble began that is told of, or over: a commit may have many. */
  since?: string | undefined
}

/** The difference between a status as it was seen last and as it is now. Pure. */
export function newsIn(before: ToldStatus, after: ToldStatus): CommitNews | undefined {
  const { lastOutcome: outcome, lastTrouble: trouble } = after
  const isNew =
    outcome !== undefined && (before.lastOutcome?.revision !== outcome.revision || before.lastOutcome.result !== outcome.result)
  const turn = turnIn(before.lastTrouble, trouble)
  const isMended = isNew && outcome.result === 'Succeeded' && before.lastOutcome?.result === 'Failed'
  const results = [isNew && outcome.result, turn, isMended && 'Recovered'] as const
  const told = [...new Set(results.filter((result): result is Result => typeof result === 'string'))]
  if (told.length === 0) return undefined
  if (isNew) return { results: told, commit: outcome, since: turn && trouble?.since }
  const { revision = '', since } = trouble ?? {}
  return { results: told, commit: outcome?.revision === revision ? outcome : { revision }, since }
}

/** What began and was over between two looks is told to nobody. */
function turnIn(before: LastTrouble | undefined, after: LastTrouble | undefined): 'Degraded' | 'Recovered' | undefined {
  if (!after) return undefined
  const isKnown = before?.since === after.since
  if (after.until === undefined) return isKnown ? undefined : 'Degraded'
  return isKnown && before.until === undefined ? 'Recovered' : undefined
}

/** As it was before there was anything else to tell. */
const USUAL: readonly Result[] = ['Succeeded', 'Failed']

/** What this receiver is told of it, if anything. */
export const resultFor = ({ outcomes = [...USUAL] }: Notification, { results }: CommitNews): Result | undefined =>
  results.find((result) => outcomes.includes(result))
