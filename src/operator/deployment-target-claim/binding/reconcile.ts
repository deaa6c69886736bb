import {
  annotations,
  askedProvisionerOf,
  claimRefOf,
  conditionOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  DeploymentTargets,
  finalizers,
  hasFinalizer,
  isBindComplete,
  isDeleting,
  isForWorkspace,
  isPrivate,
  isPrivateBy,
  keyOf,
  provisionedByOf,
  refOf,
  SPACE_PROVISIONERS,
  withoutFinalizer,
  YES,
} from '../../../api/index.ts'
import { type ControllerContext, type Next, settled } from '../../../engines/controller/index.ts'
import { parametersOf } from '../provisioning/index.ts'
import { mismatch, unsuitable } from './match.ts'
import { type BindingCaches, bestFree, hasConsumer, type News, ownTargets, provisioningOf, reservedTargets } from './situation.ts'
import {
  alreadyClaimed,
  type BindingVerdict,
  bound,
  doesNotMatch,
  lost,
  missingClass,
  missingTarget,
  noResources,
  pending,
  placeOf,
  resourcesCondition,
  statusOf,
} from './status.ts'
import { type AskedClaims, archMissing, askedOfBerth, askedOfOthers, type NodeArchs } from './unmet.ts'

const MANAGER = 'claim-binding'

interface BindingContext {
  context: ControllerContext
  caches: BindingCaches
  /** UIDs of targets that another claim is just being given, by this process. */
  taken: Set<string>
  asked: AskedClaims
  nodeArchs: NodeArchs
}

/** Claims get targets, one each. The write of `claimRef` with the claim's UID on the target is what decides. */
export async function reconcileClaim(claim: DeploymentTargetClaim, binding: BindingContext): Promise<Next> {
  if (isDeleting(claim)) return releaseClaim(claim, binding)

  const lockedTargets = ownTargets(binding.caches, claim)
  const locked = lockedTargets.find(({ metadata }) => metadata.name === claim.spec.targetName) ?? lockedTargets[0]
  // The lock is ours: finish what an earlier pass, or a provisioner, began.
  if (locked)
    return isBindComplete(claim) || isUsable(locked) ? complete(claim, locked, binding) : waitFor(claim, locked, binding)

  if (isBindComplete(claim)) return recover(claim, binding)
  if (claim.spec.targetName) return bindNamed(claim, claim.spec.targetName, binding)
  return bindBest(claim, binding)
}

/** No phase yet counts as Pending. */
const isComing = ({ status }: DeploymentTarget): boolean => (status?.phase ?? 'Pending') === 'Pending'

const isUsable = ({ status }: DeploymentTarget): boolean => status?.phase === 'Available' || status?.phase === 'Bound'

/** The claim is going: the target's controller releases the target, then nothing holds the claim any longer. */
async function releaseClaim(claim: DeploymentTargetClaim, { context, caches }: BindingContext): Promise<Next> {
  if (!hasFinalizer(claim, finalizers.claim)) return settled()
  const lockedTargets = ownTargets(caches, claim).filter((target) => !isDeleting(target))
  if (lockedTargets.length > 0) return settled()
  await context.kube.patch(DeploymentTargetClaims, refOf(claim), withoutFinalizer(claim, finalizers.claim), { manager: MANAGER })
  return settled()
}

/** bind-complete was written once, and no target carries the UID any more. */
async function recover(claim: DeploymentTargetClaim, binding: BindingContext): Promise<Next> {
  const { targetName = '' } = claim.spec
  const ref = { name: targetName, namespace: claim.metadata.namespace }
  // A cache that lags must not make anybody Lost.
  const target =
    targetName === '' ? undefined : (binding.caches.targets.get(ref) ?? (await binding.context.kube.get(DeploymentTargets, ref)))
  if (!target) return report(claim, lost(claim, `DeploymentTarget "${targetName}" does not exist any more`), binding)
  const holder = claimRefOf(target)
  if (holder && (holder.name !== claim.metadata.name || holder.uid !== undefined)) {
    return report(claim, lost(claim, `DeploymentTarget "${targetName}" belongs to another DeploymentTargetClaim`), binding)
  }
  const why =
    target.spec.deploymentTargetClassName === claim.spec.deploymentTargetClassName
      ? unsuitable(claim, target)
      : 'deploymentTargetClassName does not match'
  return why
    ? report(claim, lost(claim, `DeploymentTarget "${targetName}" cannot be had again: ${why}`), binding)
    : lockTarget(claim, target, binding)
}

/** The user named the target. If the target names the claim too, both know what they want and the class is not asked. */
async function bindNamed(claim: DeploymentTargetClaim, name: string, binding: BindingContext): Promise<Next> {
  const target = binding.caches.targets.get({ name, namespace: claim.metadata.namespace })
  if (!target) return report(claim, missingTarget(name), binding)
  const holder = claimRefOf(target)
  if (holder && (holder.name !== claim.metadata.name || holder.uid !== undefined))
    return report(claim, alreadyClaimed(target, holder.name), binding)
  const why = holder ? unsuitable(claim, target) : mismatch(claim, target)
  if (why && isComing(target)) return waitFor(claim, target, binding)
  return why ? report(claim, doesNotMatch(claim, target, why), binding) : lockTarget(claim, target, binding)
}

/** A target that is reserved for this claim comes before all others, then the best free one, then a new one. */
async function bindBest(claim: DeploymentTargetClaim, binding: BindingContext): Promise<Next> {
  const { caches, taken } = binding
  const reserved = reservedTargets(caches, claim)
  const ready = reserved.find((target) => !mismatch(claim, target))
  if (ready) return lockTarget(claim, ready, binding)
  const unready = reserved.find((target) => isComing(target) && isPrivate(target) === isPrivate(claim))
  if (unready) return waitFor(claim, unready, binding)

  const provisioning = provisioningOf(caches, claim)
  // What is being made for this claim belongs to it; taking another one now would leave that without an owner.
  const best = provisioning ? undefined : bestFree(caches, claim, taken)
  if (best) return lockTarget(claim, best, binding)
  const hint = reserved[0] && {
    message: `DeploymentTarget ${reserved[0].metadata.name} names this claim but ${mismatch(claim, reserved[0])}`,
    isUnderWay: false,
    isStuck: true,
  }
  return askForOne(claim, binding, provisioning ?? hint)
}

/** Nothing fits: mark the claim for the provisioner of its class. */
async function askForOne(claim: DeploymentTargetClaim, binding: BindingContext, news: News | undefined): Promise<Next> {
  const { deploymentTargetClassName: name } = claim.spec
  const waiting = (what: string) => pending('WaitingForTarget', news ? `${what}; ${news.message}` : what)
  if (name === '')
    return report(
      claim,
      { ...waiting('no DeploymentTarget without class is free. Create one, or name a class that provisions'), event: 'Warning' },
      binding,
    )
  const found = binding.caches.classes.get({ name })
  if (!found) return report(claim, missingClass(claim), binding)
  const { provisioner, bindingMode } = found.spec
  if (bindingMode === 'WaitForFirstConsumer' && !hasConsumer(binding.caches, claim)) {
    return report(
      claim,
      {
        ...pending(
          'WaitingForFirstConsumer',
          `waiting for an Environment or a Workspace that names this claim, as DeploymentTargetClass "${name}" wants it`,
        ),
        event: 'Normal',
      },
      binding,
    )
  }
  const isOurs = SPACE_PROVISIONERS.includes(provisioner)
  // Not of a class that has made something already: what is made goes on.
  if (isOurs && !news?.isUnderWay) {
    parametersOf(found)
    const missing = await archMissing(claim, found, binding.nodeArchs)
    if (missing) return report(claim, missing, binding)
  }
  const now = binding.context.clock.now()
  const verdict = isOurs ? askedOfBerth(provisioner, news) : askedOfOthers(claim, found, news, { ...binding, now })
  return report(claim, verdict, binding, {
    [annotations.provisioner]: provisioner,
    // Before anything is made for it. Workspaces make theirs so; of others the class may want it.
    ...(!isPrivate(claim) && isPrivateBy(found, isForWorkspace(claim)) && { [annotations.privateTo]: '' }),
  })
}

const waitFor = (claim: DeploymentTargetClaim, target: DeploymentTarget, binding: BindingContext): Promise<Next> => {
  const news = conditionOf(target.status?.conditions, 'Ready')?.message
  return report(
    claim,
    pending('TargetNotReady', `waiting for DeploymentTarget ${target.metadata.name} to become usable${news ? `: ${news}` : ''}`),
    binding,
  )
}

/** The lock, then the rest. Who loses the race gets a conflict and looks again. */
async function lockTarget(claim: DeploymentTargetClaim, target: DeploymentTarget, binding: BindingContext): Promise<Next> {
  const { context, taken } = binding
  const { name, uid } = claim.metadata
  const { resourceVersion, uid: key = '' } = target.metadata
  taken.add(key)
  try {
    const locked = await context.kube.patch(
      DeploymentTargets,
      refOf(target),
      { metadata: { resourceVersion }, spec: { claimRef: { name, uid } } },
      { manager: MANAGER },
    )
    return await complete(claim, locked, binding)
  } finally {
    taken.delete(key)
  }
}

async function complete(claim: DeploymentTargetClaim, target: DeploymentTarget, binding: BindingContext): Promise<Next> {
  const { context, caches, asked } = binding
  asked.delete(keyOf(refOf(claim)))
  const chosen = claim.spec.targetName ? {} : { [annotations.boundByController]: YES }
  const ofClass = caches.classes.get({ name: claim.spec.deploymentTargetClassName })
  const marks = { [annotations.bindComplete]: YES, ...chosen, ...askedOf(claim, target, ofClass) }
  const object = await keepMarks(claim, context, marks, target.metadata.name)
  if (claim.status?.phase !== 'Bound')
    context.events.record(claim, {
      type: 'Normal',
      reason: 'Bound',
      message: `got DeploymentTarget ${target.metadata.name}, which leads to ${placeOf(target)}`,
    })
  const mayGrow = ofClass?.spec.allowTargetResourceExpansion === true
  return settled({ object, status: statusOf(bound(target), resourcesCondition(claim, target, mayGrow)) })
}

/** Whom the claim asked, where somebody made its target for it: whoever reads that later must not be led to another. */
function askedOf(
  claim: DeploymentTargetClaim,
  target: DeploymentTarget,
  ofClass: DeploymentTargetClass | undefined,
): Record<string, string> {
  const isMade = askedProvisionerOf(claim) !== undefined || provisionedByOf(target) !== undefined
  return isMade && ofClass ? { [annotations.provisioner]: ofClass.spec.provisioner } : {}
}

async function report(
  claim: DeploymentTargetClaim,
  verdict: BindingVerdict,
  { context }: BindingContext,
  marks: Record<string, string> = {},
): Promise<Next> {
  const object = await keepMarks(claim, context, marks)
  const before = conditionOf(claim.status?.conditions, 'Ready')
  const { reason, message, error, event: type = error === undefined ? undefined : 'Warning' } = verdict
  // How far something is that only takes its time is told by the condition.
  const isNews = before?.reason !== reason || (type === 'Warning' && before.message !== message)
  if (type && isNews) context.events.record(claim, { type, reason, message })
  return settled({ object, status: statusOf(verdict, noResources(claim)), recheck: verdict.recheck })
}

/** One write for finalizer, annotations and target name; none when they stand already. */
async function keepMarks(
  claim: DeploymentTargetClaim,
  { kube }: ControllerContext,
  marks: Record<string, string>,
  targetName?: string,
): Promise<DeploymentTargetClaim> {
  const has = claim.metadata.annotations ?? {}
  const stale =
    askedProvisionerOf(claim) !== undefined && claim.spec.deploymentTargetClassName === ''
      ? { [annotations.provisioner]: null, [annotations.provisionerMisspelt]: null }
      : {}
  const missing = { ...Object.fromEntries(Object.entries(marks).filter(([key, value]) => has[key] !== value)), ...stale }
  const guarded = hasFinalizer(claim, finalizers.claim)
  const named = targetName === undefined || claim.spec.targetName === targetName
  if (guarded && named && Object.keys(missing).length === 0) return claim
  const { resourceVersion, finalizers: others = [] } = claim.metadata
  return kube.patch(
    DeploymentTargetClaims,
    refOf(claim),
    {
      metadata: { resourceVersion, ...(!guarded && { finalizers: [...others, finalizers.claim] }), annotations: missing },
      ...(!named && { spec: { targetName } }),
    },
    { manager: MANAGER },
  )
}
