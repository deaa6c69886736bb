import type { Cache, Reach } from '../../../adapters/kube/index.ts'
import {
  annotations,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  isDeleting,
  nameOf,
  refOf,
  type WorkspaceClass,
} from '../../../api/index.ts'
import type { ControllerContext } from '../../../engines/controller/index.ts'
import { withTarget } from '../../../engines/targets/index.ts'
import { Failure, isFailure, minutes, seconds, timestamp, unlessFailed } from '../../../std/index.ts'
import { isObstacle } from '../place/obstacle.ts'
import { type TargetLookup, targetOf } from '../place/target.ts'
import {
  fits,
  isReady,
  nameOfSpare,
  READY_STATE,
  retiredSince,
  retiredState,
  sharedNamespaceOf,
  spareOf,
  volumeNameOf,
} from './spare.ts'
import { makeVolume, removeVolume } from './volume.ts'

const MANAGER = 'workspace-pool'
/** A target that cannot be reached for so long keeps the volume of a spare that goes. */
const PATIENCE = minutes(5)
/** A refused request is tried again after it. Watches wake the pool before. */
const LATER = seconds(15)

export interface PoolServices extends TargetLookup {
  context: ControllerContext
  claims: Cache<DeploymentTargetClaim>
  targetClasses: Cache<DeploymentTargetClass>
  /** Where targets may lead; everywhere without it. */
  reach: Reach | undefined
}

/** The part of a pool in one namespace, after it was tended. */
export interface Tended {
  ready: number
  preparing: number
  waitingFor?: string | undefined
  /** Look again in so many milliseconds. */
  after?: number | undefined
}

/** Brings the spares of a class in one namespace to their number. Without a class all of them go. */
export async function tend(
  { owner, namespace, size }: { owner: WorkspaceClass | undefined; namespace: string; size: number },
  spares: readonly DeploymentTargetClaim[],
  services: PoolServices,
): Promise<Tended> {
  const there = spares.filter((spare) => !isDeleting(spare))
  const targetClass = targetClassOf(owner, services)
  const fresh = owner ? there.filter((spare) => isGood(spare, owner, targetClass)) : []
  // Those that are ready stay; of the others the youngest goes first.
  const kept = [...fresh].sort(byUse).slice(0, size)
  const gone = there.filter((spare) => !kept.includes(spare))
  const left = await Promise.all(gone.map((spare) => retire(spare, services)))
  const made = owner ? await make(owner, namespace, size - kept.length, services) : 0
  const now = owner ? await Promise.all(kept.map((spare) => prepare(spare, owner, services))) : []
  const waiting = now.filter((why) => why !== undefined)
  const isLate = left.includes(false) || waiting.some((why) => why.isTroubled) || made < size - kept.length
  return {
    ready: now.length - waiting.length,
    preparing: waiting.length + made,
    waitingFor: waiting[0]?.why,
    ...(isLate && { after: LATER }),
  }
}

const targetClassOf = (owner: WorkspaceClass | undefined, { targetClasses }: PoolServices) =>
  targetClasses.get({ name: owner?.spec.deploymentTargetClassName ?? '' })

/** One that lost its target is of no use, as one that was made from other settings. */
const isGood = (
  spare: DeploymentTargetClaim,
  { spec }: WorkspaceClass,
  targetClass: DeploymentTargetClass | undefined,
): boolean => retiredSince(spare) === undefined && fits(spare, spec, targetClass) && spare.status?.phase !== 'Lost'

const byUse = (one: DeploymentTargetClaim, other: DeploymentTargetClaim): number =>
  Number(isReady(other)) - Number(isReady(one)) ||
  (one.metadata.creationTimestamp ?? '').localeCompare(other.metadata.creationTimestamp ?? '') ||
  one.metadata.name.localeCompare(other.metadata.name)

/** Names that are taken, by spares or by those that were adopted, are passed over. */
async function make(owner: WorkspaceClass, namespace: string, missing: number, services: PoolServices): Promise<number> {
  const names: string[] = []
  for (let n = 0; names.length < missing; n++) {
    const name = nameOfSpare(owner, n)
    if (!services.claims.get({ name, namespace })) names.push(name)
  }
  const made = await Promise.all(names.map((name) => create(owner, namespace, name, services)))
  return made.filter(Boolean).length
}

function create(owner: WorkspaceClass, namespace: string, name: string, services: PoolServices): Promise<boolean> {
  const spare = spareOf(owner, { name, namespace }, targetClassOf(owner, services))
  const created = services.context.kube.create(DeploymentTargetClaims, spare, { manager: MANAGER })
  // Somebody else's of that name, or a namespace that is gone or going.
  return unlessFailed(created, 'already-exists', 'not-found', 'forbidden')
}

interface Waiting {
  why: string
  /** Nothing that is watched says when it is over. */
  isTroubled: boolean
}

/** Makes the volume as soon as there is a target for it; then the spare is ready. Why it is not yet. */
async function prepare(
  spare: DeploymentTargetClaim,
  owner: WorkspaceClass,
  services: PoolServices,
): Promise<Waiting | undefined> {
  if (isReady(spare)) return undefined
  const target = targetOf(spare, sharedNamespaceOf(spare), services)
  if (isObstacle(target)) return { why: target.message, isTroubled: false }
  try {
    await withTarget(target, meansOf(services), (kube) => makeVolume(kube, spare, target.namespace, owner.spec))
    const change = { [annotations.volume]: volumeNameOf(spare), ...READY_STATE }
    await annotate(spare, change, services)
    return undefined
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (failure.code === 'cancelled') throw failure
    return { why: `${nameOf(spare)}: ${failure.message}`, isTroubled: true }
  }
}

/** Takes a spare away: nobody adopts it any more, its volume goes, then it. Whether it is gone, or somebody's. */
async function retire(spare: DeploymentTargetClaim, services: PoolServices): Promise<boolean> {
  const { clock, kube, log } = services.context
  const now = clock.now()
  try {
    const since = retiredSince(spare)
    const { metadata } = since === undefined ? await annotate(spare, retiredState(timestamp(now)), services) : spare
    const isEmpty = await emptied(spare, services).catch((thrown: unknown) => {
      const failure = Failure.from(thrown)
      if (failure.code === 'cancelled') throw failure
      log.info('volume of a spare not removed', { claim: nameOf(spare), failure })
      return now - (since ?? now) >= PATIENCE
    })
    if (!isEmpty) return false
    await kube.delete(DeploymentTargetClaims, refOf(spare), { uid: metadata.uid, resourceVersion: metadata.resourceVersion })
    return true
  } catch (thrown) {
    if (isFailure(thrown, 'conflict', 'not-found')) return false
    throw thrown
  }
}

/** True when nothing of it is left in its target. A spare that never had one, or has lost it, has left nothing. */
async function emptied(spare: DeploymentTargetClaim, services: PoolServices): Promise<boolean> {
  if (spare.status?.phase !== 'Bound') return true
  const target = targetOf(spare, sharedNamespaceOf(spare), services)
  if (isObstacle(target)) {
    const { message, reason, remedy } = target
    throw new Failure('unavailable', message, { reason, remedy })
  }
  return withTarget(target, meansOf(services), (kube) => removeVolume(kube, spare, target.namespace))
}

const meansOf = ({ context: { clock }, reach }: PoolServices) => ({ clock, reach })

/** The version that was seen is the lock: a workspace that adopts the spare meanwhile has it. */
const annotate = ({ metadata }: DeploymentTargetClaim, change: Record<string, string>, { context }: PoolServices) =>
  context.kube.patch(
    DeploymentTargetClaims,
    { name: metadata.name, namespace: metadata.namespace },
    { metadata: { resourceVersion: metadata.resourceVersion, annotations: change } },
    { manager: MANAGER },
  )
