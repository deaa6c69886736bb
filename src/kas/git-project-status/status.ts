import type { Revision } from '../../adapters/git/index.ts'
import {
  type Condition,
  conditionOf,
  type GitProjectStatus,
  isRefusedCommit,
  type Statement,
  withConditions,
} from '../../api/index.ts'
import { hours, timestamp } from '../../std/index.ts'
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
  /** The revision in words. */
  name: string
  sighting: PollSighting
  /** Another one than the last of this poll. */
  isNews: boolean
  /** Milliseconds since 1970. */
  foundAt: number
  /** When a webhook or somebody said that there might be something, or the poll began. */
  since: number
}

/** The status after a finding. The same finding a second time changes nothing. */
export function statusAfter(
  before: GitProjectStatus | undefined,
  project: Project,
  { revision, name, sighting, isNews, foundAt }: Omit<PollFinding, 'source' | 'since'>,
): GitProjectStatus {
  const at = timestamp(foundAt)
  const status: GitProjectStatus = { ...before, observedGeneration: project.generation }
  const isOfDefault = isDefault(revision, project.defaultBranch ?? before?.defaultBranch)
  const statement = readiness(project, isOfDefault || !isRefusedAt(before), { sighting, isOfDefault })
  if (statement) status.conditions = withConditions(conditionsOf(before), [statement], at)
  if (!('snapshot' in sighting)) return status
  const { refName, commit, signer } = sighting.snapshot
  status.verified = withServed(before?.verified ?? [], { revision: name, ref: refName, commit, signer, seenAt: at }, foundAt)
  if (status.verified.length === 0) delete status.verified
  if (refName === undefined) return status
  if (revision.kind === 'default' || (revision.kind === 'branch' && revision.name === project.defaultBranch)) {
    status.defaultBranch = refName.replace(/^refs\/heads\//, '')
  }
  status.refs = withRef(
    before?.refs ?? [],
    { name: refName, commit, ...(signer !== undefined && { signer }), seenAt: at },
    isNews,
  )
  return status
}

const conditionsOf = (status: GitProjectStatus | undefined): Condition[] =>
  (status?.conditions ?? []).map((condition) => ({ ...condition }))

/** By whichever of its names. */
const isDefault = (revision: Revision, branch: string | undefined): boolean => {
  if (revision.kind === 'default' || branch === undefined) return revision.kind === 'default'
  const isNamed = (revision.kind === 'branch' || revision.kind === 'short') && revision.name === branch
  return isNamed || (revision.kind === 'full' && revision.name === `refs/heads/${branch}`)
}

/** Whether the default branch is not there, or is refused: that another ref can be read does not change it. */
const isRefusedAt = (status: GitProjectStatus | undefined): boolean => isTheirs(conditionOf(status?.conditions, 'Ready')?.reason)

const ANSWERS = 'It answers; what is in it is looked for when somebody follows it.'

/** Reasons that are of one ref, and not of the repository. */
const isTheirs = (reason = ''): boolean => /^(?:Ref|AnswerTooLarge$)/.test(reason) || isRefusedCommit(reason)

/**
 * `undefined`: the finding says nothing of the project as a whole. That somebody follows another branch that is not there, or has a
 * commit that is refused, is theirs.
 */
function readiness(
  project: Project,
  mayBeFine: boolean,
  { sighting, isOfDefault }: { sighting: PollSighting; isOfDefault: boolean },
): Statement | undefined {
  const ready = { type: 'Ready', observedGeneration: project.generation }
  const isPublished = project.type !== 'git'
  const failure = failureIn(sighting)
  const isOfRef = isTheirs(failure?.reason)
  if (isOfRef && !isOfDefault) return undefined
  // That somebody follows the tag latest, which is not there, says nothing of the others.
  if (failure && !(isOfRef && isPublished)) {
    const message = sentenceOf(failure, INTERNAL)
    return { ...ready, status: 'False', reason: failure.reason ?? 'GitFailed', message }
  }
  if (!mayBeFine) return undefined
  if ('empty' in sighting && !isPublished) {
    const message = 'The repository can be read; nothing has been pushed yet. Push a commit to it.'
    return { ...ready, status: 'True', reason: 'RepositoryEmpty', message }
  }
  return { ...ready, status: 'True', reason: 'Reachable', message: isPublished ? ANSWERS : 'The repository can be read.' }
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

/** Newest first; a commit that was seen before keeps its time. Where more are followed, those that have not moved do not come back. */
function withRef(before: readonly SeenRef[], seen: SeenRef, isNews: boolean): SeenRef[] {
  const known = before.find(({ name }) => name === seen.name)
  // Who signed it may be known only now.
  if (known?.commit === seen.commit) {
    const { signer = known.signer } = seen
    return before.map((ref) => (ref === known && signer !== undefined ? { ...ref, signer } : ref))
  }
  if (!known && !isNews && before.length >= KEPT) return [...before]
  return [seen, ...before.filter(({ name }) => name !== seen.name)].slice(0, KEPT)
}

type Served = NonNullable<GitProjectStatus['verified']>[number]

/** As many as the resource takes. */
const MOST_SERVED = 256
/** So exact is the time at which somebody still followed it: one write of a day. */
const FRESH = hours(24)
/** What nobody has followed for so long makes room. */
const STALE = hours(7 * 24)

interface ServedNow extends Omit<Served, 'signer' | 'ref'> {
  ref: string | undefined
  signer: string | undefined
}

/**
 * What of each revision was served last. Where there is no room, a new revision is not remembered: those that are followed must not
 * be pushed out by it, for the first commit of a revision is looked at alone. What is served without being looked at takes the place
 * of what was verified before.
 */
function withServed(before: readonly Served[], { ref, signer, ...seen }: ServedNow, now: number): Served[] {
  const known = before.find(({ revision }) => revision === seen.revision)
  if (signer === undefined) return before.filter((one) => one !== known)
  const served = { ...seen, ...(ref !== undefined && { ref }), signer }
  if (known) {
    const isSame = known.commit === served.commit && known.ref === ref && known.signer === signer
    return isSame && now - timeOf(known) < FRESH ? [...before] : before.map((one) => (one === known ? served : one))
  }
  const kept = before.length < MOST_SERVED ? before : before.filter((one) => now - timeOf(one) < STALE)
  return kept.length < MOST_SERVED ? [...kept, served] : [...before]
}

const timeOf = ({ seenAt }: Served): number => Date.parse(seenAt)

/** What was served last to those who follow the revision of that name, as the status has it. */
export function servedIn(status: GitProjectStatus | undefined, name: string) {
  const served = status?.verified?.find((one) => one.revision === name)
  return served && { commit: served.commit, refName: served.ref, signer: served.signer }
}
