import { createHash } from 'node:crypto'
import type { Cache } from '../../adapters/kube/index.ts'
import {
  annotations,
  type Environment,
  type GitOpsDeployment,
  type GitOpsDeploymentSet,
  GitOpsDeployments,
  type GitProject,
  type Index,
  isDeleting,
  type Kind,
  keyOf,
  labels,
  type OwnerReference,
  ownedBy,
  refOf,
} from '../../api/index.ts'
import { differences } from '../../engines/apply/index.ts'
import { again, type ControllerContext, type Next, settled } from '../../engines/controller/index.ts'
import { eachOf, Failure, isFailure, seconds } from '../../std/index.ts'
import { desiredOf, markIn, type WantedDeployment } from './desired.ts'
import type { Element } from './element.ts'
import { elementsOf, simpleGenerators } from './elements.ts'
import { inEffect } from './in-effect.ts'
import { type Member, type Plan, planOf } from './plan.ts'
import { decideRemoval } from './removal.ts'
import type { Repositories } from './repositories.ts'
import { failedStatus, statusOf, tell, type Unready } from './status.ts'
import { wishOf } from './wishes.ts'

/** What is remembered of a set, so that a look costs little. */
export interface SetMemory {
  version: string
  desired: ReadonlyMap<string, WantedDeployment>
  /** Those that were found as they should be, and in which version. */
  readonly verified: Map<string, string>
  /** Those that were not accepted, by what they were to be; not tried again before `until`. */
  readonly refused: Map<string, Refusal>
}

interface Refusal extends Unready {
  mark: string
  until: number
}

export interface SetServices {
  context: ControllerContext
  deployments: Cache<GitOpsDeployment>
  environments: Cache<Environment>
  projects: Cache<GitProject>
  repositories: Repositories
  bySet: Index<GitOpsDeployment>
  memories: Map<string, SetMemory>
}

export const MANAGER = 'gitops-deployment-set'

/** Requests at once, for one set. */
const WRITES = 16

/** After one was not accepted. */
const AGAIN = seconds(30)

/** One set: what is to be, what there is, what of it may be done now; then it is done, and told. */
export async function reconcileSet(set: GitOpsDeploymentSet, services: SetServices, signal: AbortSignal): Promise<Next> {
  // Who owns them are removed with it by the API server.
  if (isDeleting(set)) return settled()
  const { context, deployments, bySet } = services
  const now = context.clock.now()
  const names = namesFor(set, services)
  if ('failure' in names) return settled({ status: failedStatus(set, names.failure) })
  const memory = await rememberedDesired(set, names, services)
  const { desired } = memory
  const labelled = deployments.by(bySet, keyOf(refOf(set)))
  const there = new Map(labelled.map((one) => [one.metadata.name, one]))
  const members = [...desired].map(([name, wanted]) => memberOf(name, wanted, { live: there.get(name), memory, now }))
  const plan = planOf(members, set.spec.rollout)
  const made = labelled.filter((one) => isMadeFor(one, set))
  const without = made.filter(({ metadata }) => !desired.has(metadata.name))
  const leaving = without.filter((one) => !isDeleting(one))
  const counted = {
    leaving: leaving.length,
    made: made.length - without.length + leaving.length,
    before: set.status?.removals,
    now,
  }
  const { hold, removals } = decideRemoval(counted, set.spec.removal ?? {})
  await settleOwners(made, set, services, signal)
  if (!set.spec.suspend) {
    // Those that go first make room for the others where there is a quota.
    if (hold === undefined) await eachOf(leaving, WRITES, (one) => remove(one, set, services, signal))
    await write(plan, memory, there, { set, services, signal })
  }
  const refused = members.flatMap(({ name }) => memory.refused.get(name) ?? [])
  const status = statusOf(set, { members, plan, leaving: without.length, hold, removals, there, refused })
  tell(set, status, context.events)
  if (refused.length > 0) return again({ after: AGAIN, why: 'a GitOpsDeployment was not accepted', status })
  return settled({ status })
}

/**
 * What the generators asked of repositories, by their fields. `failure`: something is not known, and with what is known alone GitOpsDeployments
 * would be removed that there are elements for.
 */
function namesFor(
  set: GitOpsDeploymentSet,
  { projects, repositories }: SetServices,
): ReadonlyMap<string, readonly string[]> | { failure: Failure } {
  try {
    const asked = simpleGenerators(set.spec).flatMap(([field, generator]) => {
      const wish = wishOf(set, field, generator, projects)
      return wish ? [{ field, wish }] : []
    })
    const wishes = asked.map(({ wish }) => wish)
    const seen = repositories.of(refOf(set), wishes)
    const blind = seen.find(({ names }) => names === undefined)
    if (blind) return { failure: blind.failure ?? waiting() }
    return new Map(asked.map(({ field }, at) => [field, seen[at]?.names ?? []]))
  } catch (thrown) {
    return { failure: Failure.from(thrown) }
  }
}

const waiting = (): Failure =>
  new Failure('unavailable', 'kas was asked for the names in the repository', { reason: 'WaitingForRepository' })

/** As long as the spec and the elements are the same. */
async function rememberedDesired(
  set: GitOpsDeploymentSet,
  names: ReadonlyMap<string, readonly string[]>,
  { environments, memories }: SetServices,
): Promise<SetMemory> {
  const { uid, generation, namespace = '' } = set.metadata
  const given = { environments: environments.in(namespace).filter((one) => !isDeleting(one)), names }
  const elements = elementsOf(set.spec, given)
  const version = JSON.stringify([uid, generation, digestOf(elements)])
  const known = memories.get(keyOf(refOf(set)))
  if (known?.version === version) return known
  const memory = { version, desired: await desiredOf(set, elements), verified: new Map(), refused: new Map() }
  memories.set(keyOf(refOf(set)), memory)
  return memory
}

function digestOf(elements: readonly Element[]): string {
  const hash = createHash('sha256')
  for (const { values } of elements) hash.update(JSON.stringify([...values]))
  return hash.digest('base64')
}

function memberOf(
  name: string,
  wanted: WantedDeployment,
  { live, memory, now }: { live: GitOpsDeployment | undefined; memory: SetMemory; now: number },
): Member {
  const known = memory.refused.get(name)
  if (known && (known.mark !== wanted.mark || known.until <= now)) memory.refused.delete(name)
  const isBlocked = memory.refused.has(name) || (live !== undefined && isDeleting(live))
  const isSame = live !== undefined && !isDeleting(live) && markOf(live) === wanted.mark
  const isUpdated = isSame && isAsWanted(wanted, live, memory)
  return {
    name,
    labels: wanted.labels,
    isUpdated,
    isDrifted: isSame && !isUpdated,
    isReady: live !== undefined && inEffect(live).isReady,
    isManual: live?.spec.type === 'manual',
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

/** Made for this very set under this name: neither a copy that somebody made of one, nor what an older set of the name has left. */
function isMadeFor(one: GitOpsDeployment, set: GitOpsDeploymentSet): boolean {
  const { uid, name } = markIn(one)
  return uid === set.metadata.uid && name === one.metadata.name
}

/** Whether the spec of one is as it has to be the API server says. */
const AS_WRITTEN: Kind = GitOpsDeployments

interface Writing {
  set: GitOpsDeploymentSet
  services: SetServices
  signal: AbortSignal
}

/** One that is not accepted does not keep the others away, and is remembered. */
async function write(
  { write: names }: Plan,
  memory: SetMemory,
  there: ReadonlyMap<string, GitOpsDeployment>,
  { set, services: { context, deployments }, signal }: Writing,
): Promise<void> {
  await eachOf(names, WRITES, async (name) => {
    const wanted = memory.desired.get(name)
    if (!wanted || signal.aborted) return
    try {
      const isThere = there.has(name)
      if (!isThere && deployments.get({ name, namespace: set.metadata.namespace })) throw taken(name)
      const object = wanted.object()
      const metadata = { ...object.metadata, ...(!isOrphaning(set) && { ownerReferences: [ownedBy(set)] }) }
      // One that is not in our sight is made, and not taken from whoever has it.
      await context.kube.apply(AS_WRITTEN, { ...object, metadata }, { manager: MANAGER, force: isThere })
    } catch (thrown) {
      if (!isFailure(thrown, ...OF_ONE)) throw thrown
      const { reason = 'Refused', message } = isFailure(thrown, 'conflict') ? taken(name) : thrown
      memory.refused.set(name, { name, reason, message, mark: wanted.mark, until: context.clock.now() + AGAIN })
    }
  })
}

/** What is wrong with one of them, or with how many there are; all else is wrong with the API server. */
const OF_ONE = ['invalid', 'conflict', 'already-exists', 'forbidden', 'not-found', 'too-large'] as const

const taken = (name: string): Failure =>
  new Failure(
    'invalid',
    `GitOpsDeployment ${name} is there, but not this set's; give the template another name, or give that one to the set by the label ${labels.deploymentSet}`,
    { reason: 'NameOccupied' },
  )

const isOrphaning = ({ spec }: GitOpsDeploymentSet): boolean => spec.removal?.policy === 'Orphan'

/** Whether they go with the set is no change of theirs: no rollout, hold or suspension stands in the way of it. */
async function settleOwners(
  made: readonly GitOpsDeployment[],
  set: GitOpsDeploymentSet,
  services: SetServices,
  signal: AbortSignal,
): Promise<void> {
  const wrong = made.filter((one) => !isDeleting(one) && isOwned(one, set) === isOrphaning(set))
  await eachOf(wrong, WRITES, async (one) => {
    if (!signal.aborted) await patchMetadata(one, { ownerReferences: ownersOf(one, set, !isOrphaning(set)) }, services)
  })
}

const isOwned = ({ metadata }: GitOpsDeployment, set: GitOpsDeploymentSet): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid }) => uid === set.metadata.uid)

function ownersOf({ metadata }: GitOpsDeployment, set: GitOpsDeploymentSet, isOwner: boolean): OwnerReference[] {
  const others = (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== set.metadata.uid)
  return isOwner ? [...others, ownedBy(set)] : others
}

async function remove(
  one: GitOpsDeployment,
  set: GitOpsDeploymentSet,
  services: SetServices,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  const { uid, resourceVersion } = one.metadata
  if (isOrphaning(set)) {
    const marks = { labels: { [labels.deploymentSet]: null }, annotations: { [annotations.setTemplate]: null } }
    await patchMetadata(one, { ...marks, ownerReferences: ownersOf(one, set, false) }, services)
  } else await services.context.kube.delete(GitOpsDeployments, refOf(one), { uid, resourceVersion })
}

/** Of this very version: lists are replaced as a whole. */
async function patchMetadata(one: GitOpsDeployment, metadata: object, { context: { kube } }: SetServices): Promise<void> {
  const { uid, resourceVersion } = one.metadata
  await kube.patch(GitOpsDeployments, refOf(one), { metadata: { ...metadata, uid, resourceVersion } }, { manager: MANAGER })
}
