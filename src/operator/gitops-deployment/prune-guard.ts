import { annotations, type GitOpsDeployment } from '../../api/index.ts'
import { type Entry, entriesOf, GUARDS, type Guards, sayId } from '../../engines/gitops/index.ts'

/** So many digits of a commit are enough to mean it. */
const SHORTEST = 7

export const guardsOf = ({ spec: { pruneGuard } }: GitOpsDeployment): Guards => ({ ...GUARDS, ...pruneGuard })

/** A confirmation is for one commit: what the next one deletes is a new question. */
export function isConfirmed({ metadata }: GitOpsDeployment, commitId: string): boolean {
  const written = metadata.annotations?.[annotations.confirmPrune]?.trim() ?? ''
  return written.length >= SHORTEST && commitId.startsWith(written)
}

export interface PendingPrune {
  revision: string
  count: number
  reason: string
  message: string
}

/** What waits for a confirmation, with the command that gives it. */
export function pendingPruneOf(
  { metadata: { name, namespace } }: GitOpsDeployment,
  entries: readonly Entry[],
  revision: string,
): PendingPrune | undefined {
  const held = entriesOf(entries, 'withheld')
  const [first] = held
  if (!first) return undefined
  const names = held.slice(0, 10).map(({ id }) => sayId(id))
  const list = held.length > names.length ? `${names.join(', ')} and ${held.length - names.length} more` : names.join(', ')
  const command = `kubectl annotate gitopsdeployment ${name} -n ${namespace} ${annotations.confirmPrune}=${revision} --overwrite`
  return {
    revision,
    count: held.length,
    reason: first.failure?.reason ?? 'ConfirmationNeeded',
    message: `${sayId(first.id)} ${first.why ?? ''}. To confirm: ${command}. It deletes ${list}`.slice(0, 4096),
  }
}
