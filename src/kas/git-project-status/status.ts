import type { Revision } from '../../adapters/git/index.ts'
import { type Condition, type GitProjectStatus, type Statement, withConditions } from '../../api/index.ts'
import { timestamp } from '../../std/index.ts'
import type { PollSighting } from '../ports/ports.ts'
import { sentenceOf } from '../ports/refusals.ts'
import { failureIn } from '../ports/sightings.ts'
import type { Project } from '../projects/project.ts'

export const INTERNAL = 'internal error; the cause is in the log of kas'

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
  const statement = readiness(project, isDefault(revision, project.defaultBranch ?? before?.defaultBranch), sighting)
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

/** By whichever of its names. */
const isDefault = (revision: Revision, branch: string | undefined): boolean =>
  revision.kind === 'default' ||
  ((revision.kind === 'branch' || revision.kind === 'short') && revision.name === branch) ||
  (revision.kind === 'full' && revision.name === `refs/heads/${branch}`)

/**
 * `undefined`: the finding says nothing of the project as a whole. That somebody follows another branch that is not there, or has a
 * commit that is refused, is theirs.
 */
function readiness(project: Project, ofDefault: boolean, sighting: PollSighting): Statement | undefined {
  const ready = { type: 'Ready', observedGeneration: project.generation }
  const failure = failureIn(sighting)
  if (failure) {
    if (!ofDefault && /^(?:Ref|Commit)/.test(failure.reason ?? '')) return undefined
    const message = sentenceOf(failure, INTERNAL)
    return { ...ready, status: 'False', reason: failure.reason ?? 'GitFailed', message }
  }
  if ('empty' in sighting) {
    const message = 'The repository can be read; nothing has been pushed yet. Push a commit to it.'
    return { ...ready, status: 'True', reason: 'RepositoryEmpty', message }
  }
  return { ...ready, status: 'True', reason: 'Reachable', message: 'The repository can be read.' }
}

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
/** Of commits that are verified it is remembered here which was served last: as many as the resource takes. */
const KEPT_SIGNED = 256

/** Newest first; a commit that was seen before keeps its time. */
function withRef(before: readonly SeenRef[], seen: SeenRef): SeenRef[] {
  const known = before.find(({ name }) => name === seen.name)
  // Who signed it may be known only now.
  if (known?.commit === seen.commit) {
    const { signer = known.signer } = seen
    return before.map((ref) => (ref === known && signer !== undefined ? { ...ref, signer } : ref))
  }
  const all = [seen, ...before.filter(({ name }) => name !== seen.name)]
  return all.filter(({ signer }, at) => at < (signer === undefined ? KEPT : KEPT_SIGNED))
}
