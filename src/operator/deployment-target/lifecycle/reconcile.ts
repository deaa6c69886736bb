import type { Cache } from '../../../adapters/kube/index.ts'
import {
  annotations,
  byMadeTarget,
  type CoreSecret,
  claimRefOf,
  conditionOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  DeploymentTargets,
  finalizers,
  hasFinalizer,
  isDeleting,
  isKept,
  provisionedByOf,
  type ReclaimPolicy,
  reclaimPolicyOf,
  refOf,
  type SpaceRequest,
  withFinalizer,
  withoutFinalizer,
  YES,
} from '../../../api/index.ts'
import { type ControllerContext, type Next, settled } from '../../../engines/controller/index.ts'
import { minutes, timestamp } from '../../../std/index.ts'
import type { AssessCredentials } from './credentials.ts'
import { toldFinding } from './finding.ts'
import type { Reachability } from './reachability.ts'
import { available, bound, failed, kept, released, statusOf, type TargetAccess } from './status.ts'

const MANAGER = 'target-lifecycle'
/** ADR 8: a release that takes longer and says that it can't is Failed. */
const PATIENCE = minutes(2)

export interface Lifecycle {
  context: ControllerContext
  targets: Cache<DeploymentTarget>
  claims: Cache<DeploymentTargetClaim>
  classes: Cache<DeploymentTargetClass>
  secretOf: (target: DeploymentTarget) => CoreSecret | undefined
  requests: Cache<SpaceRequest>
  assess: AssessCredentials
  reachability: Reachability
}

/** A target's life: Pending, Available, Bound, Released or Failed, gone. Its claims come and go; the claims' controller binds. */
export async function reconcileTarget(target: DeploymentTarget, lifecycle: Lifecycle): Promise<Next> {
  if (isDeleting(target)) return (await keep(target, lifecycle)) ?? finishDeletion(target, lifecycle)

  const access = accessOf(target, lifecycle)
  // Before anybody can have it: or a deletion would leave what it stands for behind.
  const object = hasFinalizer(target, finalizers.target) ? target : await addFinalizer(target, lifecycle)
  const credentials = await access

  const holder = claimRefOf(object)
  // A name alone is a wish: it makes nobody the holder, and gives back nothing that was released.
  if (holder?.uid === undefined) return reportAvailable(object, holder?.name, credentials, lifecycle)
  if (isReleased(object)) return afterRelease(object, credentials, lifecycle)

  const claim = await livingClaim(object, holder, lifecycle)
  if (!claim) return release(object, holder, credentials, lifecycle)
  if (isSurplus(object, claim, lifecycle)) return giveBack(object, credentials, lifecycle)
  return reportBound(object, claim, credentials, lifecycle)
}

const isReleased = ({ status }: DeploymentTarget): boolean => status?.phase === 'Released' || status?.phase === 'Failed'

/** Its credentials, and whether the API answers: that is told, and nothing waits for it (design 3.1). */
async function accessOf(target: DeploymentTarget, { context, assess, reachability, secretOf }: Lifecycle): Promise<TargetAccess> {
  const secret = secretOf(target)
  const credentials = assess(target, secret)
  const finding = await reachability.of(target, secret, credentials)
  const before = toldFinding(target)?.answer.status
  const { status, reason, message } = finding.answer
  if (status === 'False' && before !== 'False') context.events.record(target, { type: 'Warning', reason, message })
  if (status === 'True' && before === 'False') context.events.record(target, { type: 'Normal', reason, message })
  return { ...credentials, finding }
}

const addFinalizer = (target: DeploymentTarget, { context }: Lifecycle): Promise<DeploymentTarget> =>
  context.kube.patch(DeploymentTargets, refOf(target), withFinalizer(target, finalizers.target), { manager: MANAGER })

/** The claim that has the target, if it lives. The cache may lag behind the binding, so absence is asked for. */
async function livingClaim(
  { metadata }: DeploymentTarget,
  { name, uid }: { name: string; uid?: string },
  { context, claims }: Lifecycle,
): Promise<DeploymentTargetClaim | undefined> {
  const ref = { name, namespace: metadata.namespace }
  const known = claims.get(ref)
  const claim = known?.metadata.uid === uid ? known : await context.kube.get(DeploymentTargetClaims, ref)
  return claim && claim.metadata.uid === uid && !isDeleting(claim) ? claim : undefined
}

/** The claim went on with another target of its own: this one, made or locked for it, is one too many. */
function isSurplus({ metadata }: DeploymentTarget, claim: DeploymentTargetClaim, { targets }: Lifecycle): boolean {
  const { targetName } = claim.spec
  if (!targetName || targetName === metadata.name) return false
  const other = targets.get({ name: targetName, namespace: metadata.namespace })
  return other !== undefined && claimRefOf(other)?.uid === claim.metadata.uid
}

/** It was never used: what was made for the claim goes, everything else is on offer again. */
async function giveBack(target: DeploymentTarget, credentials: TargetAccess, { context }: Lifecycle): Promise<Next> {
  const { uid, resourceVersion } = target.metadata
  if (provisionedByOf(target) !== undefined) {
    await context.kube.delete(DeploymentTargets, refOf(target), { uid })
    return settled()
  }
  const object = await context.kube.patch(
    DeploymentTargets,
    refOf(target),
    { metadata: { resourceVersion }, spec: { claimRef: null } },
    { manager: MANAGER },
  )
  return settled({ object, status: statusOf(available(credentials, undefined)) })
}

async function reportBound(
  target: DeploymentTarget,
  claim: DeploymentTargetClaim,
  credentials: TargetAccess,
  lifecycle: Lifecycle,
): Promise<Next> {
  const status =
    credentials.usable || target.status?.phase === 'Bound'
      ? bound(claim.metadata.name, credentials, policyOf(target, lifecycle))
      : { ...available(credentials, claim.metadata.name), policy: policyOf(target, lifecycle) }
  return settled({ object: target, status: statusOf(status) })
}

/** Copied once, at binding: a class that goes or changes later changes nothing for this target. */
function policyOf(target: DeploymentTarget, { classes, requests }: Lifecycle): ReclaimPolicy {
  const { name, namespace } = target.metadata
  const ofClass = classes.get({ name: target.spec.deploymentTargetClassName })
  return reclaimPolicyOf(target, { ofClass, madeFrom: requests.by(byMadeTarget, `${namespace}/${name}`) })
}

/** No claim has it, though it may wait for one of that name. Once had, it stays Released until somebody says that it may be had again. */
async function reportAvailable(
  target: DeploymentTarget,
  reservedFor: string | undefined,
  credentials: TargetAccess,
  { context }: Lifecycle,
): Promise<Next> {
  if (!isReleased(target)) return settled({ object: target, status: statusOf(available(credentials, reservedFor)) })
  if (target.metadata.annotations?.[annotations.recycle] !== YES) {
    return settled({ object: target, status: statusOf(released(target, credentials, timestamp(context.clock.now()))) })
  }
  const { resourceVersion } = target.metadata
  const status = statusOf(available(credentials, reservedFor))
  // Status first: with the annotation gone and the phase still Released, nobody would try again.
  if (target.status?.phase === 'Released') {
    const { conditions: _, ...phase } = status
    await context.kube.patch(
      DeploymentTargets,
      refOf(target),
      { metadata: { resourceVersion }, status: { ...phase, lastClaim: null, releasedAt: null, reclaimPolicy: null } },
      { subresource: 'status', manager: MANAGER },
    )
  }
  const object = await context.kube.patch(
    DeploymentTargets,
    refOf(target),
    { metadata: { annotations: { [annotations.recycle]: null } } },
    { manager: MANAGER },
  )
  return settled({ object, status })
}

/** The claim is gone. First it is said who had the target, so that an interruption here forgets nothing. */
async function release(
  target: DeploymentTarget,
  holder: { name: string; uid?: string },
  credentials: TargetAccess,
  lifecycle: Lifecycle,
): Promise<Next> {
  const { context } = lifecycle
  const status = { ...target.status, lastClaim: holder, reclaimPolicy: policyOf(target, lifecycle) }
  context.events.record(target, { type: 'Normal', reason: 'Released', message: `DeploymentTargetClaim ${holder.name} is gone` })
  return settled({
    object: target,
    status: statusOf(released({ ...target, status }, credentials, timestamp(context.clock.now()))),
  })
}

/** Released and still naming the former claim: delete what was made for it, give everything else free of the name. */
async function afterRelease(target: DeploymentTarget, credentials: TargetAccess, lifecycle: Lifecycle): Promise<Next> {
  const { kube, clock } = lifecycle.context
  const { uid, resourceVersion } = target.metadata
  // A target that nobody provisioned is never deleted with its claim.
  if (policyOf(target, lifecycle) === 'Delete' && provisionedByOf(target) !== undefined) {
    await kube.delete(DeploymentTargets, refOf(target), { uid })
    return settled()
  }
  const object = await kube.patch(
    DeploymentTargets,
    refOf(target),
    { metadata: { resourceVersion }, spec: { claimRef: null } },
    { manager: MANAGER },
  )
  return settled({ object, status: statusOf(released(object, credentials, timestamp(clock.now()))) })
}

/** Deleted while its claim lives: nothing of it is freed, and the claim goes on with it. */
async function keep(target: DeploymentTarget, lifecycle: Lifecycle): Promise<Next | undefined> {
  const { name, uid } = claimRefOf(target) ?? {}
  if (!isKept(target) || name === undefined || uid === undefined) return undefined
  const claim = await livingClaim(target, { name, uid }, lifecycle)
  if (!claim || isSurplus(target, claim, lifecycle)) return undefined
  const status = statusOf(kept(target, name, await accessOf(target, lifecycle), policyOf(target, lifecycle)))
  const message = conditionOf(status.conditions, 'Ready')?.message ?? ''
  if (conditionOf(target.status?.conditions, 'Ready')?.message !== message)
    lifecycle.context.events.record(target, { type: 'Warning', reason: 'KeptForClaim', message })
  return settled({ object: target, status })
}

/** Deleting: provisioners that hold it with finalizers of their own free what it stands for; then it may go. */
async function finishDeletion(target: DeploymentTarget, lifecycle: Lifecycle): Promise<Next> {
  const { context, assess, secretOf } = lifecycle
  const credentials = { ...assess(target, secretOf(target)), finding: toldFinding(target) }
  const others = target.metadata.finalizers?.filter((name) => name !== finalizers.target) ?? []
  if (others.length === 0) {
    if (!hasFinalizer(target, finalizers.target)) return settled()
    await context.kube.patch(DeploymentTargets, refOf(target), withoutFinalizer(target, finalizers.target), { manager: MANAGER })
    return settled()
  }
  const now = context.clock.now()
  const lastClaim = target.status?.lastClaim ?? claimRefOf(target)
  const known = {
    ...target,
    status: { ...target.status, reclaimPolicy: policyOf(target, lifecycle), ...(lastClaim && { lastClaim }) },
  }
  const { why, recheck } = troubleOf(target, lifecycle, now)
  const verdict =
    why === undefined ? released(known, credentials, timestamp(now)) : failed(known, credentials, why, timestamp(now))
  return settled({ recheck, status: statusOf(verdict) })
}

/** Why it cannot be freed, if it is time to say so; else when to look again. */
function troubleOf(target: DeploymentTarget, { requests }: Lifecycle, now: number): { why?: string; recheck?: number } {
  const told = target.metadata.annotations?.[annotations.reclaimFailed]
  if (told) return { why: told }
  const { name, namespace } = target.metadata
  const [request] = requests.by(byMadeTarget, `${namespace}/${name}`)
  const since = request?.metadata.deletionTimestamp
  const ready = conditionOf(request?.status?.conditions, 'Ready')
  if (since === undefined || ready?.reason !== 'UnableToTerminate') return {}
  const left = Date.parse(since) + PATIENCE - now
  return left > 0 ? { recheck: left + 1 } : { why: `SpaceRequest ${request?.metadata.name}: ${ready.message}` }
}
