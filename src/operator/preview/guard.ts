import { annotations, conditionOf, type Preview } from '../../api/index.ts'
import { decideRemoval, isRemovalHeld, type RemovalRule, type Removals } from '../removal-guard/index.ts'
import { isAskedFor } from '../repository-names/index.ts'
import { type PreviewPlan, planOf, type SeenBranches } from './plan.ts'
import { SUSPENDED } from './status.ts'

interface GuardedPlan {
  readonly plan: PreviewPlan
  /** Why those stay for now whose branch is gone, and their names. */
  readonly hold: string | undefined
  readonly held: ReadonlySet<string>
  /** For the status, with those that go. */
  readonly removals: Removals | undefined
  /** Whether some go that the status still lists. */
  readonly letsGo: boolean
}

/** One to three branches that are merged within minutes are everyday life, also the last one. */
const RULE: RemovalRule = {
  what: 'environments',
  because: ', because the repository has their branches no more',
  all: 2,
  share: { of: 1, from: 4 },
  countsNew: true,
}

/**
 * What is planned, and of it what stays although its branch is gone: a repository that is made anew, or the address of another one, must not
 * take everything away. What would go anyway is not counted: it has expired, or was ended, or is not asked for any more, or has no room.
 * `made`: the names of which there is anything. Pure.
 */
export function guardedPlan(preview: Preview, { made, ...seen }: SeenBranches & { made: ReadonlySet<string> }): GuardedPlan {
  const { spec, status } = preview
  const known = knownOf(preview, seen.there).filter(({ name }) => made.has(name))
  const gone = known.filter(({ branch }) => isAskedFor(branch, spec.branches) && !seen.branches.has(branch))
  const branches = new Map([...seen.branches, ...gone.map(({ branch, commit }) => [branch, commit] as const)])
  const whole = planOf(preview, { ...seen, branches })
  const stays = new Set(whole.live.map(({ branch }) => branch))
  const leaving = gone.filter(({ branch }) => stays.has(branch)).map(({ name }) => name)
  const staying = known.filter(({ branch }) => stays.has(branch))
  const { hold, removals } = decideRemoval(
    {
      leaving: leaving.length,
      made: staying.length,
      before: without(known.length - staying.length, leaving.length, status?.removals),
      isHeld: isRemovalHeld(preview),
      now: seen.now,
    },
    spec.removal ?? {},
    RULE,
  )
  const letsGo = hold === undefined && leaving.length > 0
  return {
    plan: hold === undefined && gone.length > 0 ? planOf(preview, seen) : whole,
    hold,
    held: new Set(hold === undefined ? [] : leaving),
    removals: removals && letsGo ? { ...removals, gone: removals.gone + leaving.length } : removals,
    letsGo,
  }
}

interface KnownEnvironment {
  name: string
  branch: string
  commit: string
}

/** While it was suspended the status told what would be; of a lost status nothing is known. Then that counts which is there. */
function knownOf({ status }: Preview, there: SeenBranches['there']): KnownEnvironment[] {
  const listed = status?.environments ?? []
  const isTold = status?.conditions !== undefined && conditionOf(status.conditions, 'Ready')?.reason !== SUSPENDED
  if (isTold) return listed
  const names = new Set(listed.map(({ name }) => name))
  const others = [...there].flatMap(([name, { metadata }]) => {
    const branch = metadata.annotations?.[annotations.branch]
    return branch === undefined || names.has(name) ? [] : [{ name, branch, commit: '' }]
  })
  return [...listed, ...others]
}

/** All of those that are left are all, also where somebody has ended one of them. */
const without = (ended: number, leaving: number, before: Removals | undefined): Removals | undefined =>
  before && {
    ...before,
    total: Math.max(before.total - ended, before.gone + leaving),
    ...(before.held !== undefined && { held: Math.max(before.held - ended, leaving) }),
  }
