import { annotations, type Environment, FOREVER, type Preview, type PreviewStatus } from '../../api/index.ts'
import { durationOf, timestamp } from '../../std/index.ts'
import { slugOf } from '../repository-names/index.ts'

/** What is known of an environment beside how it is. */
export type PreviewEntry = Pick<
  NonNullable<PreviewStatus['environments']>[number],
  'name' | 'branch' | 'commit' | 'since' | 'expires'
>
export type Expired = NonNullable<PreviewStatus['expired']>

export interface PreviewPlan {
  readonly live: readonly PreviewEntry[]
  readonly expired: Expired
  /** Branches for which there is no room. */
  readonly waiting: number
  /** Milliseconds until the next one expires. */
  readonly recheck: number | undefined
}

interface Seen {
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
export function planOf({ metadata, spec, status }: Preview, { branches, there, now }: Seen): PreviewPlan {
  const known = new Map((status?.environments ?? []).map((entry) => [entry.branch, entry]))
  const past = new Map((status?.expired ?? []).map(({ branch, commit }) => [branch, commit]))
  const candidates: PreviewEntry[] = []
  const expired: Expired = []
  for (const [branch, commit] of branches) {
    const before = known.get(branch)
    const name = `${metadata.name}-${slugOf(branch, SLUG)}`
    const since = before?.commit === commit ? before.since : timestamp(now)
    const marks = there.get(name)?.metadata.annotations ?? {}
    const end = endOf(spec.timeToLive, since, marks[annotations.previewKeep])
    const isEnded =
      past.get(branch) === commit || marks[annotations.previewExpire] === commit || (end !== undefined && end <= now)
    if (isEnded) expired.push({ branch, commit })
    else candidates.push({ name, branch, commit, since, ...(end !== undefined && { expires: timestamp(end) }) })
  }
  const live = fitting(candidates, there, spec.maxEnvironments ?? MOST)
  const ends = live.flatMap(({ expires }) => (expires === undefined ? [] : [Date.parse(expires) - now]))
  return {
    live,
    expired,
    waiting: candidates.length - live.length,
    recheck: ends.length > 0 ? Math.max(Math.min(...ends), 0) : undefined,
  }
}

/** As the schema has it. */
const MOST = 20

/** Those that are there stay, the ones with the newest commits first; then by name. */
function fitting(candidates: readonly PreviewEntry[], there: ReadonlyMap<string, Environment>, most: number): PreviewEntry[] {
  const isThere = ({ name, branch }: PreviewEntry) => there.get(name)?.metadata.annotations?.[annotations.branch] === branch
  const old = candidates.filter(isThere).toSorted((one, other) => Date.parse(other.since) - Date.parse(one.since))
  const all = [...old, ...candidates.filter((entry) => !isThere(entry))]
  const names = new Set<string>()
  const unique = all.filter(({ name }) => !names.has(name) && names.add(name))
  return unique.slice(0, most).toSorted((one, other) => (one.branch < other.branch ? -1 : 1))
}

/** When it goes by itself, milliseconds since 1970; `undefined`: with its branch. */
function endOf(timeToLive: string | undefined, since: string, keep: string | undefined): number | undefined {
  if (timeToLive === undefined || keep === FOREVER) return undefined
  const end = Date.parse(since) + durationOf(timeToLive)
  const until = Date.parse(keep ?? '')
  return Number.isNaN(until) ? end : Math.max(end, until)
}
