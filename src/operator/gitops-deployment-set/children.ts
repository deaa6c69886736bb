import {
  annotations,
  type GitOpsDeployment,
  type GitOpsDeploymentSet,
  GitOpsDeployments,
  isDeleting,
  isOwnedBy,
  type Kind,
  labels,
  type OwnerReference,
  ownedBy,
  refOf,
} from '../../api/index.ts'
import { isOfOneObject } from '../../engines/apply/index.ts'
import { eachOf, Failure, isFailure, seconds } from '../../std/index.ts'
import { markIn } from './desired.ts'
import type { Plan } from './plan.ts'
import { MANAGER, type SetMemory, type SetServices } from './services.ts'

/** Requests at once, for one set. */
const WRITES = 16

/** After one was not accepted. */
export const AGAIN = seconds(30)

/** Made for this very set under this name: neither a copy that somebody made of one, nor what an older set of the name has left. */
export function isMadeFor(one: GitOpsDeployment, set: GitOpsDeploymentSet): boolean {
  const { uid, name } = markIn(one)
  return uid === set.metadata.uid && name === one.metadata.name
}

/** Whether the spec of one is as it has to be the API server says. */
const AS_WRITTEN: Kind = GitOpsDeployments

/** One look at a set, and what it does. */
interface Writing {
  set: GitOpsDeploymentSet
  services: SetServices
  memory: SetMemory
  signal: AbortSignal
  /** Somebody else was quicker: it is to be looked at again. */
  wasLate: boolean
}

/** Makes and changes them. */
export async function writeAll(
  { write: names }: Plan,
  there: ReadonlyMap<string, GitOpsDeployment>,
  writing: Writing,
): Promise<void> {
  const { set, services, memory, signal } = writing
  const { context, deployments } = services
  await eachOf(names, WRITES, async (name) => {
    const wanted = memory.desired.get(name)
    if (!wanted || signal.aborted) return
    await orRefused({ name, mark: wanted.mark }, writing, async () => {
      const isThere = there.has(name)
      if (!isThere && deployments.get({ name, namespace: set.metadata.namespace })) throw taken(name)
      const object = wanted.object()
      const metadata = { ...object.metadata, ...(!isOrphaning(set) && { ownerReferences: [ownedBy(set)] }) }
      // One that is not in our sight is made, and not taken from whoever has it.
      const applying = context.kube.apply(AS_WRITTEN, { ...object, metadata }, { manager: MANAGER, force: isThere })
      await applying.catch((thrown: unknown) => {
        throw isFailure(thrown, 'conflict') ? taken(name) : thrown
      })
    })
  })
}

/** How many have gone. */
export async function removeAll(leaving: readonly GitOpsDeployment[], writing: Writing): Promise<number> {
  let gone = 0
  await eachOf(leaving, WRITES, async (one) => {
    if (writing.signal.aborted) return
    const isDone = await orRefused({ name: one.metadata.name, mark: LEAVING }, writing, () => remove(one, writing))
    if (isDone) gone++
  })
  return gone
}

/** In the place of what one was to be. */
const LEAVING = 'leaving'

/** Whether they go with the set is no change of theirs: no rollout, hold or suspension stands in the way of it. */
export async function settleOwners(made: readonly GitOpsDeployment[], writing: Writing): Promise<void> {
  const { set, signal } = writing
  const wrong = made.filter((one) => !isDeleting(one) && isOwnedBy(one, set) === isOrphaning(set))
  await eachOf(wrong, WRITES, async (one) => {
    if (signal.aborted) return
    const owners = { ownerReferences: ownersOf(one, set, !isOrphaning(set)) }
    await orRefused({ name: one.metadata.name, mark: OWNING }, writing, () => patchMetadata(one, owners, writing))
  })
}

const OWNING = 'owning'

/** One that is not accepted does not keep the others away, is remembered, and is not tried again at once. Whether it was done. */
async function orRefused(
  { name, mark }: { name: string; mark: string },
  writing: Writing,
  work: () => Promise<void>,
): Promise<boolean> {
  const { memory, services } = writing
  const now = services.context.clock.now()
  const known = memory.refused.get(name)
  if (known && known.mark === mark && known.until > now) return false
  try {
    await work()
    if (known?.mark === mark) memory.refused.delete(name)
    return true
  } catch (thrown) {
    if (!isOfOneObject(thrown)) throw thrown
    if (thrown.code === 'conflict') writing.wasLate = true
    else memory.refused.set(name, { name, reason: thrown.reason ?? 'Refused', message: thrown.message, mark, until: now + AGAIN })
    return false
  }
}

/** What was refused long enough ago, or is not to be any more, may be tried again. */
export function forgetRefused({ refused, desired }: SetMemory, now: number): void {
  for (const [name, { mark, until }] of refused) {
    const isMeant = mark === OWNING || mark === (desired.get(name)?.mark ?? LEAVING)
    if (!isMeant || until <= now) refused.delete(name)
  }
}

const taken = (name: string): Failure =>
  new Failure(
    'invalid',
    `GitOpsDeployment ${name} is there, but not this set's; give the template another name, or give that one to the set by the label ${labels.deploymentSet}`,
    { reason: 'NameOccupied' },
  )

const isOrphaning = ({ spec }: GitOpsDeploymentSet): boolean => spec.removal?.policy === 'Orphan'

function ownersOf({ metadata }: GitOpsDeployment, set: GitOpsDeploymentSet, isOwner: boolean): OwnerReference[] {
  const others = (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== set.metadata.uid)
  return isOwner ? [...others, ownedBy(set)] : others
}

async function remove(one: GitOpsDeployment, writing: Writing): Promise<void> {
  const { set, services } = writing
  const { uid, resourceVersion } = one.metadata
  if (isOrphaning(set)) {
    const marks = { labels: { [labels.deploymentSet]: null }, annotations: { [annotations.setTemplate]: null } }
    await patchMetadata(one, { ...marks, ownerReferences: ownersOf(one, set, false) }, writing)
  } else await services.context.kube.delete(GitOpsDeployments, refOf(one), { uid, resourceVersion })
}

/** Of this very version: lists are replaced as a whole. */
async function patchMetadata(one: GitOpsDeployment, metadata: object, { services }: Writing): Promise<void> {
  const { uid, resourceVersion } = one.metadata
  const { kube } = services.context
  await kube.patch(GitOpsDeployments, refOf(one), { metadata: { ...metadata, uid, resourceVersion } }, { manager: MANAGER })
}
