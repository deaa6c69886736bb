import { annotations, type Environment, type Preview, type PreviewStatus } from '../../api/index.ts'
import { durationOf, timestamp } from '../../std/index.ts'
import { slugOf } from '../repository-names/index.ts'

/** What is known of an environment beside how it is. */
export type PreviewEntry = Pick<
  NonNullable<PreviewStatus['environments']>[number],
  'name' | 'branch' | 'commit' | 'since' | 'expires'
>
export type Expired = NonNullable<PreviewStatus['expired']>
type Waiting = NonNullable<PreviewStatus['waiting']>

export interface PreviewPlan {
  readonly live: readonly PreviewEntry[]
  readonly expired: Expired
  /** Branches for which there is no room, by name. */
  readonly waiting: Waiting
  /** Milliseconds until the next one expires. */
  readonly recheck: number | undefined
}

export interface SeenBranches {
  /** Commits by branch. */
  branches: ReadonlyMap<string, string>
  /** The Environments of the Preview, by name. */
  there: ReadonlyMap<string, Environment>
  /** Milliseconds since 1970. */
  now: number
}

/** Short enough to read, and to be part of a host name. Where two branches have the same, the second waits until the first has gone. */
const SLUG = { longest: 20, digits: 8 }

/** Which branches have an environment, and which had one. Pure. */
export function planOf({ metadata, spec, status }: Preview, { branches, there, now }: SeenBranches): PreviewPlan {
  const known = new Map((status?.environments ?? []).map((entry) => [entry.branch, entry]))
  const past = new Map((status?.expired ?? []).map(({ branch, commit }) => [branch, commit]))
  const candidates: Candidate[] = []
  const expired: Expired = []
  const taken: Waiting = []
  for (const [branch, commit] of branches) {
    const before = known.get(branch)
    const name = nameFor(metadata.name, branch)
    const since = before?.commit === commit ? before.since : timestamp(now)
    const marks = there.get(name)?.metadata.annotations ?? {}
    const kept = keptUntil(marks[annotations.previewKeep])
    const end = spec.timeToLive === undefined ? FOR_EVER : Math.max(Date.parse(since) + durationOf(spec.timeToLive), kept)
    const isTaken = isOfAnother(marks[annotations.branch], branch, (other) => nameFor(metadata.name, other) === name)
    const isEnded = !isTaken && (marks[annotations.previewExpire] === commit || end <= now)
    if (isEnded || past.get(branch) === commit) expired.push({ branch, commit })
    else if (isTaken) taken.push({ branch, commit })
    else {
      const entry = { name, branch, commit, since, ...(end !== FOR_EVER && { expires: timestamp(end) }) }
      candidates.push({ entry, isThere: marks[annotations.branch] === branch, isKept: kept > now })
    }
  }
  const live = fitting(candidates, spec.maxEnvironments ?? MOST)
  const hasRoom = new Set(live.map(({ branch }) => branch))
  const others = candidates.flatMap(({ entry: { branch, commit } }) => (hasRoom.has(branch) ? [] : [{ branch, commit }]))
  const ends = live.flatMap(({ expires }) => (expires === undefined ? [] : [Date.parse(expires) - now]))
  return {
    live,
    expired,
    waiting: [...others, ...taken].toSorted(byBranch),
    recheck: ends.length > 0 ? Math.max(Math.min(...ends), 0) : undefined,
  }
}

const nameFor = (preview: string, branch: string): string => `${preview}-${slugOf(branch, SLUG)}`

/** What one branch has had is never given to another. Where a person has written another branch there, it is set back. */
const isOfAnother = (has: string | undefined, branch: string, isCalledSo: (other: string) => boolean): boolean =>
  has !== undefined && has !== branch && isCalledSo(has)

/** As the schema has it. */
const MOST = 20

const FOR_EVER = Number.POSITIVE_INFINITY

/** A branch that may have an environment. */
interface Candidate {
  entry: PreviewEntry
  isThere: boolean
  isKept: boolean
}

/** Those that are there stay, first what somebody keeps, then the newest commits; then by name. */
function fitting(candidates: readonly Candidate[], most: number): PreviewEntry[] {
  const rank = ({ isThere, isKept }: Candidate) => (isKept ? 0 : isThere ? 1 : 2)
  const bySince = (one: Candidate, other: Candidate) => Date.parse(other.entry.since) - Date.parse(one.entry.since)
  const all = candidates.toSorted(
    (one, other) => rank(one) - rank(other) || (one.isThere ? bySince(one, other) : 0) || byBranch(one.entry, other.entry),
  )
  const names = new Set<string>()
  const unique = all.filter(({ entry: { name } }) => !names.has(name) && names.add(name))
  return unique
    .slice(0, most)
    .map(({ entry }) => entry)
    .toSorted(byBranch)
}

const byBranch = (one: { branch: string }, other: { branch: string }): number => (one.branch < other.branch ? -1 : 1)

/** As RFC 3339 has it, and the API server takes it back. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/

/** Milliseconds since 1970. A time that nobody can read keeps it: whoever wrote it did not want it to go. */
function keptUntil(mark: string | undefined): number {
  if (mark === undefined) return Number.NEGATIVE_INFINITY
  const time = TIME.test(mark) ? Date.parse(mark) : Number.NaN
  return Number.isNaN(time) ? FOR_EVER : time
}
