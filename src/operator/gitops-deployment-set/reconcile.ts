import {
  annotations,
  type GitOpsDeployment,
  type GitOpsDeploymentSet,
  inEffect,
  isDeleting,
  keyOf,
  refOf,
} from '../../api/index.ts'
import { differences } from '../../engines/apply/index.ts'
import { again, failedStatus, type Next, settled } from '../../engines/controller/index.ts'
import { Failure, seconds } from '../../std/index.ts'
import { decideRemoval, endOfRemovals, isRemovalHeld, type RemovalRule } from '../removal-guard/index.ts'
import { waitingFor } from '../repository-names/index.ts'
import { AGAIN, forgetRefused, isMadeFor, removeAll, settleOwners, writeAll } from './children.ts'
import { desiredOf, type WantedDeployment } from './desired.ts'
import { annotationsAskedFor, asksForEnvironments, elementsOf, simpleGenerators } from './elements.ts'
import { type Member, planOf } from './plan.ts'
import type { SetMemory, SetServices } from './services.ts'
import { statusOf, tell } from './status.ts'
import { wishOf } from './wishes.ts'

/** After somebody else was quicker. */
const SOON = seconds(1)

/** One set: what is to be, what there is, what of it may be done now; then it is done, and told. */
export async function reconcileSet(set: GitOpsDeploymentSet, services: SetServices, signal: AbortSignal): Promise<Next> {
  // Who owns them are removed with it by the API server.
  if (isDeleting(set)) return settled()
  const { context, deployments, bySet } = services
  const now = context.clock.now()
  const seen = namesFor(set, services)
  if (!seen.names) return settled({ status: failedStatus(set, seen.failure) })
  const memory = await rememberedDesired(set, seen.names, services)
  forgetRefused(memory, now)
  const labelled = deployments.by(bySet, keyOf(refOf(set)))
  const there = new Map(labelled.map((one) => [one.metadata.name, one]))
  const members = [...memory.desired].map(([name, wanted]) =>
    memberOf(name, wanted, { live: there.get(name), memory, rests: set.spec.template.spec.suspend === true }),
  )
  const plan = planOf(members, set.spec.rollout)
  const made = labelled.filter((one) => isMadeFor(one, set))
  const without = made.filter(({ metadata }) => !memory.desired.has(metadata.name))
  const leaving = without.filter((one) => !isDeleting(one))
  const removal = removalOf(set, { leaving: leaving.length, made: made.length - without.length + leaving.length, now })
  const writing = { set, services, memory, signal, wasLate: false }
  await settleOwners(made, writing)
  let removals = set.status?.removals
  if (!set.spec.suspend) {
    // Those that go first make room for the others where there is a quota.
    const gone = removal.hold === undefined ? await removeAll(leaving, writing) : 0
    removals = removal.removals && { ...removal.removals, gone: removal.removals.gone + gone }
    await writeAll(plan, there, writing)
  }
  const refused = [...memory.refused.values()]
  const told = { members, plan, leaving: without.length, hold: removal.hold, removals, there, refused }
  const status = statusOf(set, { ...told, unseen: seen.failure, asks: seen.names.size > 0 })
  tell(set, { conditions: status.conditions, hold: removal.hold }, context.events)
  if (writing.wasLate) return again({ after: SOON, why: 'somebody else has changed one of them', status })
  if (refused.length > 0) return again({ after: AGAIN, why: 'a GitOpsDeployment was not accepted', status })
  return settled({ status, recheck: removal.hold === undefined ? endOfRemovals(removals, now) : undefined })
}

/** While it is suspended nothing goes, and nothing is held from going. */
function removalOf(
  set: GitOpsDeploymentSet,
  counted: { leaving: number; made: number; now: number },
): ReturnType<typeof decideRemoval> {
  const before = set.status?.removals
  if (set.spec.suspend) return { hold: undefined, removals: before }
  return decideRemoval({ ...counted, before, isHeld: isRemovalHeld(set) }, set.spec.removal ?? {}, RULE)
}

/** A wrong selector, or a new name in the template, takes one as it takes all. */
const RULE: RemovalRule = { what: 'GitOpsDeployments', because: '', all: 1, share: { of: 10, from: 1 }, countsNew: false }

type SeenInRepositories =
  | { names: ReadonlyMap<string, readonly string[]>; failure: Failure | undefined }
  | { names: undefined; failure: Failure }

/**
 * What the generators asked of repositories, by their fields, and why there is nothing newer. Without `names` something is not known, and
 * by what is known alone GitOpsDeployments would be removed that there are elements for.
 */
function namesFor(set: GitOpsDeploymentSet, { projects, repositories }: SetServices): SeenInRepositories {
  try {
    const asked = simpleGenerators(set.spec).flatMap(([field, generator]) => {
      const wish = wishOf(set, field, generator, projects)
      return wish ? [{ field, wish }] : []
    })
    const wishes = asked.map(({ wish }) => wish)
    const seen = repositories.of(refOf(set), wishes)
    const blind = seen.find((one) => one.names === undefined)
    if (blind) return { names: undefined, failure: blind.failure ?? waitingFor('the names in the repository') }
    const names = new Map(asked.map(({ field }, at) => [field, seen[at]?.names ?? []]))
    return { names, failure: seen.find(({ failure }) => failure)?.failure }
  } catch (thrown) {
    repositories.of(refOf(set), [])
    return { names: undefined, failure: Failure.from(thrown) }
  }
}

/** As long as the spec and what the elements are made of are the same. */
async function rememberedDesired(
  set: GitOpsDeploymentSet,
  names: ReadonlyMap<string, readonly string[]>,
  { environments, memories }: SetServices,
): Promise<SetMemory> {
  const { uid, generation, namespace = '' } = set.metadata
  const all = asksForEnvironments(set.spec) ? environments.in(namespace).filter((one) => !isDeleting(one)) : []
  const noted = annotationsAskedFor(set.spec)
  const marks = all.map(({ metadata }) => [metadata.name, metadata.labels, noted.map((one) => metadata.annotations?.[one])])
  const version = JSON.stringify([uid, generation, marks])
  const lists = [...names.values()]
  const key = keyOf(refOf(set))
  const known = memories.get(key)
  const isSame = known?.from.version === version && lists.every((list, at) => list === known.from.names[at])
  if (known && isSame) return known
  const desired = await desiredOf(set, elementsOf(set.spec, { environments: all, names }))
  const memory = { from: { version, names: lists }, desired, verified: new Map(), refused: known?.refused ?? new Map() }
  memories.set(key, memory)
  return memory
}

function memberOf(
  name: string,
  wanted: WantedDeployment,
  { live, memory, rests }: { live: GitOpsDeployment | undefined; memory: SetMemory; rests: boolean },
): Member {
  const isBlocked = memory.refused.get(name)?.mark === wanted.mark || (live !== undefined && isDeleting(live))
  const isSame = live !== undefined && !isDeleting(live) && markOf(live) === wanted.mark
  const isUpdated = isSame && isAsWanted(wanted, live, memory)
  return {
    name,
    labels: wanted.labels,
    isUpdated,
    isDrifted: isSame && !isUpdated,
    isReady: live !== undefined && inEffect(live).isReady,
    isManual: rests || live?.spec.type === 'manual',
    isBlocked,
  }
}

const markOf = ({ metadata }: GitOpsDeployment): string | undefined => metadata.annotations?.[annotations.setTemplate]

/** All that the template says is there. What it does not speak of may be whatever somebody likes. */
function isAsWanted(wanted: WantedDeployment, live: GitOpsDeployment, memory: SetMemory): boolean {
  const { name, uid, generation, labels: marks, annotations: notes } = live.metadata
  const version = JSON.stringify([uid, generation, marks, notes])
  if (memory.verified.get(name) === version) return true
  const isSame = differences(wanted.object(), live).length === 0
  if (isSame) memory.verified.set(name, version)
  return isSame
}
