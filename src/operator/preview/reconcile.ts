import { type GitProject, isDeleting, keyOf, type Preview, refOf } from '../../api/index.ts'
import { again, type Next, settled } from '../../engines/controller/index.ts'
import { Failure } from '../../std/index.ts'
import { branchOf, isAskedFor, projectFor, refsOf } from '../repository-names/index.ts'
import { AGAIN, isOwnedBy, keepSet, removeAll, writeAll } from './belongings.ts'
import { type PreviewPlan, planOf } from './plan.ts'
import type { PreviewServices } from './services.ts'
import { failedStatus, statusOf, suspendedStatus } from './status.ts'

/** More branches than anybody has environments for, also one after the other. */
const MOST_BRANCHES = 1000

/** One Preview: which branches there are, which of them have an environment; then it is made, or goes, and is told. */
export async function reconcilePreview(preview: Preview, services: PreviewServices, signal: AbortSignal): Promise<Next> {
  // What it owns is removed with it by the API server.
  if (isDeleting(preview)) return settled()
  if (preview.spec.suspend) return settled({ status: suspendedStatus(preview) })
  const seen = look(preview, services)
  if (!seen.branches) return settled({ status: failedStatus(preview, seen.failure) })
  const { context, environments, claims, byPreview, sets } = services
  const key = keyOf(refOf(preview))
  const owned = environments.by(byPreview.environments, key).filter((one) => isOwnedBy(one, preview))
  const there = new Map(owned.filter((one) => !isDeleting(one)).map((one) => [one.metadata.name, one]))
  const plan = planOf(preview, { branches: seen.branches, there, now: context.clock.now() })
  const set = sets.get(refOf(preview))
  const found = { plan, set, unseen: seen.failure }
  if (endsAnother(preview, plan)) {
    const status = statusOf(preview, { ...found, refusals: new Map() }, services)
    return again({ after: 0, why: 'what has expired is written down before it goes', status })
  }
  await keepSet(preview, seen.project, services)
  const all = [...owned, ...claims.by(byPreview.claims, key).filter((one) => isOwnedBy(one, preview))]
  const live = new Set(plan.live.map(({ name }) => name))
  // Those that go make room for the others where there is a quota.
  await removeAll(
    all.filter(({ metadata }) => !live.has(metadata.name)),
    services,
    signal,
  )
  const refusals = await writeAll(preview, plan.live, services, signal)
  const status = statusOf(preview, { ...found, refusals }, services)
  tell(preview, plan, services)
  if (refusals.size > 0) return again({ after: AGAIN, why: 'an environment was not accepted', status })
  return settled({ status, recheck: plan.recheck })
}

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
    if (!seen?.names) return { branches: undefined, failure: seen?.failure ?? waiting() }
    const all = seen.names.map((name, at) => [branchOf(name), seen.commits?.[at] ?? ''] as const)
    const branches = new Map(all.filter(([branch]) => isAskedFor(branch, wanted)))
    if (branches.size > MOST_BRANCHES) return { branches: undefined, failure: tooMany(branches.size) }
    return { branches, project, failure: seen.failure }
  } catch (thrown) {
    repositories.of(ref, [])
    return { branches: undefined, failure: Failure.from(thrown) }
  }
}

const tooMany = (count: number): Failure =>
  new Failure('invalid', `spec.branches gives ${count} branches; at most ${MOST_BRANCHES} are looked at`, {
    reason: 'TooManyBranches',
    remedy: 'Choose fewer by pattern and except.',
  })

const waiting = (): Failure =>
  new Failure('unavailable', 'kas was asked for the branches of the repository; there are none before something was pushed', {
    reason: 'WaitingForRepository',
  })

/** Who pushes a branch, or misses an environment, finds it among the Events. */
function tell(preview: Preview, { live, expired }: PreviewPlan, { context }: PreviewServices): void {
  const before = new Set((preview.status?.environments ?? []).map(({ branch }) => branch))
  const made = live.filter(({ branch }) => !before.delete(branch))
  for (const { name, branch } of made)
    context.events.record(preview, { type: 'Normal', reason: 'EnvironmentMade', message: `${name} is made for branch ${branch}` })
  const ended = new Set(expired.map(({ branch }) => branch))
  for (const branch of before) {
    const why = ended.has(branch) ? '; the next push to the branch brings it back' : ''
    context.events.record(preview, {
      type: 'Normal',
      reason: 'EnvironmentRemoved',
      message: `that of branch ${branch} goes${why}`,
    })
  }
}
