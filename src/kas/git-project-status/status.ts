import type { Revision } from '../../adapters/git/index.ts'
import { type Condition, type GitProjectStatus, type Statement, withConditions } from '../../api/index.ts'
import { type Failure, timestamp } from '../../std/index.ts'
import type { PollSighting } from '../ports/ports.ts'
import { sentenceOf } from '../ports/refusals.ts'
import type { Project } from '../projects/project.ts'

/** The result of one poll, with its time. */
export interface PollFinding {
  /** `sourceOf` the project that was polled. */
  source: string
  revision: Revision
  sighting: PollSighting
  /** Milliseconds since 1970. */
  foundAt: number
  /** When a webhook or somebody said that there might be something, or the poll began. */
  since: number
}

/** The status after a finding. The same finding a second time changes nothing. */
export function statusAfter(
  before: GitProjectStatus | undefined,
  project: Project,
  { revision, sighting, foundAt }: Omit<PollFinding, 'source' | 'since'>,
): GitProjectStatus {
  const at = timestamp(foundAt)
  const status: GitProjectStatus = { ...before, observedGeneration: project.generation }
  const statement = readiness(project, revision, sighting)
  if (statement) status.conditions = withConditions(conditionsOf(before), [statement], at)
  if (!('snapshot' in sighting) || !sighting.snapshot.refName) return status
  const { refName, commit, signer } = sighting.snapshot
  if (revision.kind === 'default' || (revision.kind === 'branch' && revision.name === project.defaultBranch)) {
    status.defaultBranch = refName.replace(/^refs\/heads\//, '')
  }
  status.refs = withRef(before?.refs ?? [], { name: refName, commit, ...(signer !== undefined && { signer }), seenAt: at })
  return status
}

const conditionsOf = (status: GitProjectStatus | undefined): Condition[] =>
  (status?.conditions ?? []).map((condition) => ({ ...condition }))

/** `undefined`: the finding says nothing of the project as a whole. That somebody follows a branch that is not there is theirs. */
function readiness(project: Project, revision: Revision, sighting: PollSighting): Statement | undefined {
  const ready = { type: 'Ready', observedGeneration: project.generation }
  const failure = failureIn(sighting)
  if (failure) {
    const isDefault = revision.kind === 'default' || (revision.kind === 'branch' && revision.name === project.defaultBranch)
    if (!isDefault && /^Ref/.test(failure.reason ?? '')) return undefined
    const message = sentenceOf(failure, 'internal error; the cause is in the log of kas')
    return { ...ready, status: 'False', reason: failure.reason ?? 'GitFailed', message }
  }
  if ('empty' in sighting) {
    const message = 'The repository can be read; nothing has been pushed yet. Push a commit to it.'
    return { ...ready, status: 'True', reason: 'RepositoryEmpty', message }
  }
  return { ...ready, status: 'True', reason: 'Reachable', message: 'The repository can be read.' }
}

/** Why there is nothing new to serve. */
export const failureIn = (sighting: PollSighting): Failure | undefined =>
  'failure' in sighting ? sighting.failure : 'snapshot' in sighting ? sighting.refused : undefined

interface SeenRef {
  name: string
  commit: string
  signer?: string
  seenAt?: string
}

/** The commit that was found, where the status before did not have it, at whatever ref. */
export function newCommitIn(before: GitProjectStatus | undefined, sighting: PollSighting) {
  if (!('snapshot' in sighting) || !sighting.snapshot.refName) return
  const { refName, commit } = sighting.snapshot
  return before?.refs?.some((ref) => ref.commit === commit) ? undefined : { refName, commit }
}

const KEPT = 32

/** Newest first; a commit that was seen before keeps its time. */
function withRef(before: readonly SeenRef[], seen: SeenRef): SeenRef[] {
  const known = before.find(({ name }) => name === seen.name)
  // Who signed it may be known only now.
  if (known?.commit === seen.commit) {
    const { signer = known.signer } = seen
    return before.map((ref) => (ref === known && signer !== undefined ? { ...ref, signer } : ref))
  }
  return [seen, ...before.filter(({ name }) => name !== seen.name)].slice(0, KEPT)
}
