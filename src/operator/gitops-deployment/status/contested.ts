import type { Statement } from '../../../api/index.ts'
import { keyOfId, sayKey } from '../../../engines/apply/index.ts'
import type { Entry, SyncResult } from '../../../engines/gitops/index.ts'

const MOST = 3

/** What this deployment keeps and others want as well. It is no illness: the others are refused. Pure. */
export function contestedIn(contested: SyncResult['contested'], failed: readonly Entry[]): Statement {
  const refused = new Set(failed.map(({ id }) => keyOfId(id)))
  const claimants = new Map<string, string[]>()
  for (const { key, by } of contested) if (!refused.has(key)) claimants.set(key, [...(claimants.get(key) ?? []), by.title])
  if (claimants.size === 0) return { type: 'Contested', status: 'False', reason: 'AsExpected', message: '' }
  const said = [...claimants].slice(0, MOST).map(([key, titles]) => `${sayKey(key)} is wanted by ${titles.join(', ')} as well`)
  const more = claimants.size > MOST ? `; and ${claimants.size - MOST} more` : ''
  const message = `${said.join('; ')}${more}. It stays with this one; remove it from all but one.`
  return { type: 'Contested', status: 'True', reason: 'ConflictingSync', message }
}
