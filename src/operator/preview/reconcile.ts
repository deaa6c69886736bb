import { type GitProject, isDeleting, isOwnedBy, keyOf, type Preview, refOf } from '../../api/index.ts'
import { again, failedStatus, type Next, settled } from '../../engines/controller/index.ts'
import { Failure } from '../../std/index.ts'
import { endOfRemovals, tellOfRemoval } from '../removal-guard/index.ts'
import { branchOf, isAskedFor, projectFor, refsOf, waitingFor } from '../repository-names/index.ts'
import { AGAIN, keepSet, refusalsOf, removeAll, writeAll } from './belongings.ts'
import { guardedPlan } from './guard.ts'
import type { PreviewPlan } from './plan.ts'
import type { PreviewServices } from './services.ts'
import { statusOf } from './status.ts'

/** More branches than anybody has environments for, also one after the other. */
const MOST_BRANCHES = 1000

/** kas delivers no branch with a longer name. */
const LONGEST = 244

/** One Preview: which branches there are, which of them have an environment; then it goes or is made, and is told. */
export async function reconcilePreview(preview: Preview, services: PreviewServices, signal: AbortSignal): Promise<Next> {
  // What it owns is removed with it by the API server.
  if (isDeleting(preview)) return settled()
  const seen = look(preview, services)
  if (!seen.branches) return settled({ status: failedStatus(preview, seen.failure) })
  const { context, environments, claims, byPreview, sets } = services
  const key = keyOf(refOf(preview))
  const owned = environments.by(byPreview.environments, key).filter((one) => isOwnedBy(one, preview))
  const there = new Map(owned.filter((one) => !isDeleting(one)).map((one) => [one.metadata.name, one]))
  const all = [...claims.by(byPreview.claims, key).filter((one) => isOwnedBy(one, preview)), ...owned]
  const made = new Set(all.filter((one) => !isDeleting(one)).map(({ metadata }) => metadata.name))
  const now = context.clock.now()
  const guarded = guardedPlan(preview, { branches: seen.branches, there, made, now })
  const { plan, held } = guarded
  const live = new Set(plan.live.map(({ name }) => name))
  const leaving = all.filter(({ metadata }) => !live.has(metadata.name))
  const found = { ...guarded, there, leaving, set: sets.get(refOf(preview)), unseen: seen.failure }
  const news = { plan, branches: seen.branches, hold: guarded.hold }
  if (preview.spec.suspend || guarded.letsGo || endsAnother(preview, plan)) {
    const status = statusOf(preview, { ...found, refusals: refusalsOf(preview, services) }, services)
    if (preview.spec.suspend) return settled({ status })
    tell(preview, news, services)
    return again({ after: 0, why: 'what goes is written down before', status })
  }
  // Those that go make room for the others where there is a quota, and wait for nothing.
  await removeAll(leaving, services, signal)
  await keepSet(preview, seen.project, services)
  // What is held is let be, and not made anew where a person ends it.
  const making = plan.live.filter(({ name }) => !held.has(name))
  const refusals = await writeAll(preview, making, services, signal)
  tell(preview, news, services)
  const status = statusOf(preview, { ...found, refusals }, services)
  if (refusals.size > 0) return again({ after: AGAIN, why: 'an environment was not accepted', status })
  const end = guarded.hold === undefined ? endOfRemovals(guarded.removals, now) : undefined
  return settled({ status, recheck: soonest(plan.recheck, end) })
}

const soonest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)

/** Whoever is started anew in the midst of it would make it anew. */
function endsAnother({ status }: Preview, { expired }: PreviewPlan): boolean {
  const known = new Map((status?.expired ?? []).map(({ branch, commit }) => [branch, commit]))
  return expired.some(({ branch, commit }) => known.get(branch) !== commit)
}

type Look =
  | { branches: ReadonlyMap<string, string>; project: GitProject; failure: Failure | undefined }
  | { branches: undefined; failure: Failure }

/** What kas tells of the branches. Without them nothing is known, and by that nothing is removed. */
function look(preview: Preview, { projects, repositories }: PreviewServices): Look {
  const { branches: wanted, template } = preview.spec
  const ref = refOf(preview)
  try {
    const asking = { namespace: ref.namespace ?? '', template: template.spec, field: 'spec.branches.project' }
    const { project, asked } = projectFor(wanted.project, asking, projects)
    const wish = { ...asked, ref: { kind: 'refs' as const, name: refsOf(wanted) }, globs: ['**'], commits: true as const }
    const [seen] = repositories.of(ref, [wish])
    if (!seen?.names) return { branches: undefined, failure: seen?.failure ?? waitingFor('the branches of the repository') }
    const all = seen.names.map((name, at) => [branchOf(name), seen.commits?.[at] ?? ''] as const)
    const branches = new Map(all.filter(([branch]) => branch.length <= LONGEST && isAskedFor(branch, wanted)))
    if (branches.size <= MOST_BRANCHES) return { branches, project, failure: seen.failure }
    return { branches: knownIn(preview, branches), project, failure: tooMany(branches.size) }
  } catch (thrown) {
    repositories.of(ref, [])
    return { branches: undefined, failure: Failure.from(thrown) }
  }
}

/** Nothing is made for the others; what is there goes with its branch, or in its time. */
function knownIn({ status }: Preview, branches: ReadonlyMap<string, string>): Map<string, string> {
  const known = new Set([...(status?.environments ?? []), ...(status?.expired ?? [])].map(({ branch }) => branch))
  return new Map([...branches].filter(([branch]) => known.has(branch)))
}

const tooMany = (count: number): Failure =>
  new Failure('invalid', `spec.branches gives ${count} branches; at most ${MOST_BRANCHES} are looked at`, {
    reason: 'TooManyBranches',
    remedy: 'Choose fewer by pattern and except.',
  })

interface News {
  plan: PreviewPlan
  branches: ReadonlyMap<string, string>
  /** Why some stay although their branch is gone. */
  hold: string | undefined
}

/** Who pushes a branch, or misses an environment, finds it among the Events. */
function tell(preview: Preview, { plan: { live, expired }, branches, hold }: News, services: PreviewServices): void {
  const { events } = services.context
  tellOfRemoval(preview, hold, events)
  const refusals = refusalsOf(preview, services)
  const before = new Set((preview.status?.environments ?? []).map(({ branch }) => branch))
  for (const { name, branch } of live)
    if (!before.delete(branch) && !refusals.has(name))
      events.record(preview, { type: 'Normal', reason: 'EnvironmentMade', message: `${name} is made for branch ${branch}` })
  const ended = new Set(expired.map(({ branch }) => branch))
  for (const branch of before) {
    const why = branches.has(branch) ? 'there is no room for it any more' : 'the branch is gone, or not asked for any more'
    const message = `that of branch ${branch} goes: ${ended.has(branch) ? 'it has expired, or was ended; the next push brings it back' : why}`
    events.record(preview, { type: 'Normal', reason: 'EnvironmentRemoved', message })
  }
}
