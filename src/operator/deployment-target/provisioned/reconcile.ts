import { isDeepStrictEqual } from 'node:util'
import type { Cache } from '../../../adapters/kube/index.ts'
import {
  annotations,
  byClaimUid,
  byUid,
  claimRefOf,
  conditionOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  DeploymentTargets,
  isDeleting,
  isLeaving,
  isMadeFor,
  isPrivate,
  keyOf,
  labels,
  MANAGED_BY_BERTH,
  refOf,
  type SpaceRequest,
  SpaceRequests,
} from '../../../api/index.ts'
import { createOnce } from '../../../engines/apply/index.ts'
import { type ControllerContext, type Next, settled } from '../../../engines/controller/index.ts'
import { Failure } from '../../../std/index.ts'
import { type Access, credentialsFor, targetNames, targetOf } from './desired.ts'
import { orphanPolicy } from './orphan.ts'

export const MANAGER = 'devsandbox-targets'
const LONGEST_LABEL = 63

interface Provisioning {
  context: ControllerContext
  claims: Cache<DeploymentTargetClaim>
  classes: Cache<DeploymentTargetClass>
  targets: Cache<DeploymentTarget>
  insecureSkipTLSVerify: boolean
}

/** A SpaceRequest that is ready and was made for a claim becomes the claim's target. Its status is the space controller's. */
export async function makeTarget(request: SpaceRequest, provisioning: Provisioning): Promise<Next> {
  // Made by a person, for whatever it is.
  if (request.metadata.labels?.[labels.claim] === undefined) return settled()
  await moveTarget(request, provisioning)
  if (isDeleting(request)) return settled()

  const claim = claimOf(request, provisioning)
  if (!claim) return handleOrphan(request, provisioning)
  const access = accessOf(request, provisioning)
  if (isDeleting(claim)) return settled()
  if (isSurplus(request, claim, provisioning)) {
    await provisioning.context.kube.delete(SpaceRequests, refOf(request), { uid: request.metadata.uid })
    return settled()
  }
  if (!access) return settled()

  const target = targetFor(claim, request, provisioning)
  if (target) return updateTarget(target, request, access, provisioning)
  // A claim that lost its target, or took another one, is not given one behind its back.
  if (claim.status?.phase === 'Lost' || (claim.status?.phase === 'Bound' && claim.spec.targetName)) return settled()
  const made = await create(claim, request, access, provisioning)
  await labelRequest(request, made, provisioning)
  return settled()
}

/** The claim took another target while this was asked for: nobody ever had it, and nobody will. */
function isSurplus({ metadata }: SpaceRequest, claim: DeploymentTargetClaim, { targets }: Provisioning): boolean {
  const { [labels.managedBy]: maker, [labels.target]: made } = metadata.labels ?? {}
  if (maker !== MANAGED_BY_BERTH || made !== undefined || claim.status?.phase !== 'Bound') return false
  const had = targets.get({ name: claim.spec.targetName ?? '', namespace: metadata.namespace })
  return had !== undefined && claimRefOf(had)?.uid === claim.metadata.uid && had.metadata.labels?.[labels.claimUid] === undefined
}

/** Its name may be too long for the label; then only the UID says which one it is. */
function claimOf(request: SpaceRequest, { claims }: Provisioning): DeploymentTargetClaim | undefined {
  const { namespace = '', labels: marks = {} } = request.metadata
  const uid = marks[labels.claimUid]
  const named = claims.get({ name: marks[labels.claim] ?? '', namespace })
  const found = uid === undefined ? named : claims.by(byUid, uid)[0]
  return found && isMadeFor(request, found) ? found : undefined
}

function accessOf(request: SpaceRequest, { context, insecureSkipTLSVerify }: Provisioning): Access | undefined {
  const ready = conditionOf(request.status?.conditions, 'Ready')
  const { namespaceAccess = [], targetClusterURL = '' } = request.status ?? {}
  const [first, second] = namespaceAccess
  if (ready?.status !== 'True' || !first) return undefined
  const refusal = second
    ? `gives access to ${namespaceAccess.length} namespaces; a DeploymentTarget stands for one. Use a tier that makes one namespace`
    : first.secretRef === ''
      ? 'gives no credentials, and a DeploymentTarget needs some. Use a tier with a service account'
      : undefined
  if (refusal === undefined)
    return { apiURL: targetClusterURL, namespace: first.name, secret: first.secretRef, insecureSkipTLSVerify }
  context.events.record(request, {
    type: 'Warning',
    reason: 'NoTargetMade',
    message: `SpaceRequest ${request.metadata.name} ${refusal}`,
  })
  return undefined
}

/** The one that was made of this request before, or that holds the claim already. */
function targetFor(claim: DeploymentTargetClaim, request: SpaceRequest, { targets }: Provisioning): DeploymentTarget | undefined {
  const { metadata } = request
  // Those of private claims only Berth makes.
  const isGood = (target: DeploymentTarget) => isPrivate(target) || !isPrivate(request)
  const named = targets.get({ name: metadata.labels?.[labels.target] ?? '', namespace: metadata.namespace })
  if (named && claimRefOf(named)?.uid === claim.metadata.uid && isGood(named)) return named
  return targets
    .by(byClaimUid, claim.metadata.uid ?? '')
    .find((target) => target.metadata.namespace === metadata.namespace && isGood(target))
}

async function create(
  claim: DeploymentTargetClaim,
  request: SpaceRequest,
  access: Access,
  { context }: Provisioning,
): Promise<DeploymentTarget> {
  for (const name of targetNames(claim)) {
    const target = targetOf(name, claim, request, access)
    const { made, there } = await createOnce(context.kube, DeploymentTargets, target, MANAGER)
    const isOfClaim = there?.metadata.labels?.[labels.claimUid] === claim.metadata.uid
    const ours = there && !isDeleting(there) && isOfClaim && isPrivate(there) === isPrivate(target) ? there : made
    if (ours) return ours
  }
  throw new Failure('invalid', `other DeploymentTargets have every name that could be given: ${targetNames(claim).join(', ')}`, {
    reason: 'NoTargetMade',
    remedy: 'Delete or rename one of them',
  })
}

/** The label by which people, and whoever waits for the end of the request, find the one from the other. */
async function labelRequest(request: SpaceRequest, { metadata }: DeploymentTarget, { context }: Provisioning): Promise<void> {
  if (request.metadata.labels?.[labels.target] === metadata.name) return
  const mark = { [labels.target]: metadata.name, [labels.claimUid]: metadata.labels?.[labels.claimUid] ?? '' }
  await context.kube.patch(SpaceRequests, refOf(request), { metadata: { labels: mark } }, { manager: MANAGER })
}

/**
 * After an interruption the label is missing; after an expansion the target must say what it has now. A request that is new, for a target
 * that is not, was made because the one before is gone: the target leads to its namespace.
 */
async function updateTarget(
  target: DeploymentTarget,
  request: SpaceRequest,
  access: Access,
  provisioning: Provisioning,
): Promise<Next> {
  if (isLeaving(target)) return settled()
  const isNew = request.metadata.labels?.[labels.target] === undefined
  const kubernetesCredentials = credentialsFor(access)
  if (isNew && !isDeepStrictEqual(kubernetesCredentials, target.spec.kubernetesCredentials)) {
    await change(target, { kubernetesCredentials }, provisioning)
    // The target that it becomes wakes the request.
    return settled()
  }
  await labelRequest(request, target, provisioning)
  const { resources } = request.spec
  const seen = conditionOf(request.status?.conditions, 'Ready')?.observedGeneration ?? request.metadata.generation
  if (!resources || seen !== request.metadata.generation || isDeepStrictEqual(resources, target.spec.resources)) return settled()
  await change(target, { resources }, provisioning)
  return settled()
}

/**
 * The installation names another address of its API, and the Secret does already. Whoever holds the target follows, also where nobody does,
 * and where the request is at fault. What a person made, or gave another Secret, keeps its own.
 */
async function moveTarget(request: SpaceRequest, provisioning: Provisioning): Promise<void> {
  const { labels: marks = {}, namespace } = request.metadata
  const target = provisioning.targets.get({ name: marks[labels.target] ?? '', namespace })
  const { targetClusterURL: apiURL, namespaceAccess: [access] = [] } = request.status ?? {}
  if (!target || isLeaving(target) || !apiURL || !access) return
  const { clusterCredentialsSecret, apiURL: before } = target.spec.kubernetesCredentials
  const isMadeOfIt = target.metadata.annotations?.[annotations.spaceRequest] === keyOf(refOf(request))
  if (isMadeOfIt && clusterCredentialsSecret === access.secretRef && before !== apiURL)
    await change(target, { kubernetesCredentials: { apiURL } }, provisioning)
}

/** Only what was seen is changed. */
async function change(
  target: DeploymentTarget,
  spec: { resources: unknown } | { kubernetesCredentials: Partial<DeploymentTarget['spec']['kubernetesCredentials']> },
  { context }: Provisioning,
): Promise<void> {
  const { resourceVersion } = target.metadata
  await context.kube.patch(DeploymentTargets, refOf(target), { metadata: { resourceVersion }, spec }, { manager: MANAGER })
}

/** Nobody asks for it any more, and no target was made of it that would be reclaimed. */
async function handleOrphan(request: SpaceRequest, { context, ...provisioning }: Provisioning): Promise<Next> {
  const verdict = orphanPolicy(request, provisioning)
  if (verdict === 'unknown') {
    const message = `the DeploymentTargetClaim of SpaceRequest ${request.metadata.name} is gone, and no DeploymentTargetClass says whether to keep it. Delete it if it is not needed`
    context.events.record(request, { type: 'Warning', reason: 'ClaimGone', message })
  }
  if (verdict !== 'delete' || (await claimLives(request, context))) return settled()
  await context.kube.delete(SpaceRequests, refOf(request), { uid: request.metadata.uid })
  return settled()
}

/** A cache that lags must not cost anybody a namespace. */
async function claimLives({ metadata }: SpaceRequest, { kube }: ControllerContext): Promise<boolean> {
  const { namespace = '', labels: marks = {} } = metadata
  const { [labels.claim]: name = '', [labels.claimUid]: uid } = marks
  const isIt = (claim: DeploymentTargetClaim) => (uid === undefined ? claim.metadata.name === name : claim.metadata.uid === uid)
  const named = await kube.get(DeploymentTargetClaims, { name, namespace })
  if (named && isIt(named)) return true
  // Where the label is full, the name may be longer.
  return name.length >= LONGEST_LABEL && (await kube.list(DeploymentTargetClaims, { namespace })).some(isIt)
}
