import type { Kube } from '../../../adapters/kube/index.ts'
import { annotations, type GitOpsDeployment, GitOpsDeployments, refOf } from '../../../api/index.ts'
import { type Entry, entriesOf } from '../../../engines/gitops/index.ts'

/** The status takes so many characters. */
const LONGEST = 256

/**
 * A sync that somebody asks for by the annotation and that was not answered yet. The answer stands in the status, so that a restart does
 * not answer it again, past a sync window that has closed since.
 */
export function askedOf(deployment: GitOpsDeployment): string | undefined {
  const word = requestIn(deployment)
  return word === deployment.status?.lastHandledSync ? undefined : word
}

/** The part of a status that says that it was answered. */
export function answerTo(deployment: GitOpsDeployment): { lastHandledSync?: string } {
  const word = requestIn(deployment)
  return word === undefined ? {} : { lastHandledSync: word }
}

const requestIn = ({ metadata }: GitOpsDeployment): string | undefined =>
  metadata.annotations?.[annotations.sync]?.slice(0, LONGEST) || undefined

/** So many digits of a commit are enough to mean it. */
const SHORTEST = 7

/** A confirmation is for one commit: what the next one deletes is a new question. */
export function isConfirmed(deployment: GitOpsDeployment, commitId: string): boolean {
  return names(confirmationIn(deployment), commitId)
}

const confirmationIn = ({ metadata }: GitOpsDeployment): string => metadata.annotations?.[annotations.confirmPrune]?.trim() ?? ''

const names = (word: string, commitId: string | undefined): boolean =>
  word.length >= SHORTEST && commitId?.startsWith(word) === true

/** The outcome of a pass. */
interface FinishedPass {
  commitId: string
  entries: readonly Entry[]
  /** Whether something waits for others to look at the commit. */
  isPostponed: boolean
}

/**
 * Whether the confirmation has done its work: what it let go is gone, or another commit than the one that waited is applied by
 * now. One that was given before there was a question lasts until there is one. Pure.
 */
export function isSpent(deployment: GitOpsDeployment, { commitId, entries, isPostponed }: FinishedPass): boolean {
  const word = confirmationIn(deployment)
  if (word === '') return false
  const { pendingPrune, sync, history = [] } = deployment.status ?? {}
  if (!names(word, commitId)) {
    const former = [pendingPrune?.revision, sync?.revision, ...history.map(({ revision }) => revision)]
    return former.some((revision) => names(word, revision))
  }
  const isOpen = isPostponed || entriesOf(entries, 'failed', 'waiting', 'withheld', 'terminating').length > 0
  const hadWork = pendingPrune?.revision === commitId || entriesOf(entries, 'pruned').length > 0
  return hadWork && !isOpen
}

/**
 * A confirmation holds once: else a rollback to its commit would delete without a question. It goes before the status is
 * written, which says until then that deletions wait; so a crash in between forgets nothing.
 */
export async function useUp(deployment: GitOpsDeployment, done: FinishedPass, kube: Kube): Promise<void> {
  if (!isSpent(deployment, done)) return
  const { resourceVersion } = deployment.metadata
  await kube.patch(GitOpsDeployments, refOf(deployment), {
    metadata: { resourceVersion, annotations: { [annotations.confirmPrune]: null } },
  })
}
