import { type GitOpsDeployment, keyOf } from '../../../api/index.ts'
import { entriesOf, type Observed, type SyncRequest, type SyncResult } from '../../../engines/gitops/index.ts'
import type { LastPass, SyncServices } from '../services/services.ts'

type PassMemory = Pick<SyncServices, 'lastPasses'>

/** A pass under another spec says nothing. */
export function lastPassOf({ metadata }: GitOpsDeployment, { lastPasses }: PassMemory): LastPass | undefined {
  const last = lastPasses.get(keyOf(metadata))
  return last?.generation === metadata.generation && last?.uid === metadata.uid ? last : undefined
}

export function rememberPass(
  deployment: GitOpsDeployment,
  { compare }: Pick<SyncRequest, 'compare'>,
  result: Pick<SyncResult, 'commitId' | 'changes' | 'observed' | 'repairsLater'>,
  memory: PassMemory,
  now: number,
): LastPass {
  const { metadata } = deployment
  const lastPass = lastPassOf(deployment, memory)
  const { commitId } = result
  const isAgain = lastPass?.commitId === commitId
  const wrote = entriesOf(result.changes, 'created', 'configured', 'pruned').length > 0
  const isOpen = isUndone(result) || isUnderWay(result.observed)
  const taken: LastPass = {
    uid: metadata.uid,
    generation: metadata.generation,
    commitId,
    comparedAt: compare ? now : (lastPass?.comparedAt ?? now),
    observed: result.observed,
    tries: isOpen && isAgain ? (lastPass?.tries ?? 0) + 1 : 0,
    wroteAt: wrote ? now : lastPass?.wroteAt,
  }
  memory.lastPasses.set(keyOf(metadata), taken)
  return taken
}

/** Objects that no watch tells about are read after each start and change of the spec, then every interval, and while it is on its way. */
export const isCompareDue = (lastPass: LastPass | undefined, interval: number, now: number): boolean =>
  !lastPass || now - lastPass.comparedAt >= interval || isUnderWay(lastPass.observed)

export const isUnderWay = ({ health: { status } }: Observed): boolean => status === 'Progressing' || status === 'Missing'

export const isUndone = ({ changes, repairsLater }: Pick<SyncResult, 'changes' | 'repairsLater'>): boolean =>
  entriesOf(changes, 'failed', 'terminating', 'waiting').length + repairsLater.length > 0
