import { isDeepStrictEqual } from 'node:util'
import { type Cache, isNamespaceTerminating, mayUse } from '../../../adapters/kube/index.ts'
import {
  annotations,
  askedProvisionerOf,
  byClaim,
  claimRefOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  type DeploymentTargetClass,
  DeploymentTargetClasses,
  isDeleting,
  isMadeFor,
  isPrivate,
  keyOf,
  labels,
  privateToOf,
  provisionedByOf,
  refOf,
  requesterOf,
  SPACE_PROVISIONERS,
  type SpaceRequest,
  SpaceRequests,
} from '../../../api/index.ts'
import { createOnce } from '../../../engines/apply/index.ts'
import { type ControllerContext, type Next, settled } from '../../../engines/controller/index.ts'
import { Failure } from '../../../std/index.ts'
import { requestFor } from './desired.ts'

export const MANAGER = 'devsandbox-provisioner'

interface ProvisioningContext {
  context: ControllerContext
  classes: Cache<DeploymentTargetClass>
  requests: Cache<SpaceRequest>
  targets: Cache<DeploymentTarget>
}

/** A claim that the binder marked for one of these provisioners gets one SpaceRequest. The claim's status belongs to the binder. */
export async function provision(claim: DeploymentTargetClaim, provisioning: ProvisioningContext): Promise<Next> {
  const provisioner = askedProvisionerOf(claim)
  if (isDeleting(claim) || provisioner === undefined || !SPACE_PROVISIONERS.includes(provisioner)) return settled()
  // Its absence is told by the binder, its arrival wakes the claim.
  const from = provisioning.classes.get({ name: claim.spec.deploymentTargetClassName })
  if (from?.spec.provisioner !== provisioner) return settled()

  const request = requestOf(claim, provisioning)
  if (request) return follow(claim, from, request, provisioning)
  // A claim that has a target, or wants a certain one, needs no new one.
  const isFree = claim.status?.phase === 'Pending' && !claim.spec.targetName
  if (!isFree) {
    if (!lostItsSpace(claim, provisioning)) return settled()
    await assertUse(claim, from, provisioning)
  }
  await ask(claim, from, provisioning)
  return settled()
}

/**
 * Admission does not ask it of a claim that names its target, for which nothing is made; and whoever writes targets may say of one that it was
 * made for a claim. Throws a `forbidden` Failure, which is tried again.
 */
async function assertUse(
  claim: DeploymentTargetClaim,
  { metadata: { name } }: DeploymentTargetClass,
  { context }: ProvisioningContext,
): Promise<void> {
  const { namespace = '' } = claim.metadata
  const requester = requesterOf(claim)
  if (await mayUse(context.kube, requester, { kind: DeploymentTargetClasses, name, namespace })) return
  const who = requester.split('\n')[0] || 'whoever made the claim'
  throw new Failure('forbidden', `${who} may not use DeploymentTargetClass "${name}" in namespace ${namespace}`, {
    reason: 'Forbidden',
    remedy: `Make a claim of another class, or ask a platform engineer for the verb use on ${DeploymentTargetClasses.plural}.${DeploymentTargetClasses.group}`,
  })
}

/** What its target was made of is gone, with the namespace; the target is there, and takes another. */
function lostItsSpace(claim: DeploymentTargetClaim, { targets }: ProvisioningContext): boolean {
  const { namespace, uid } = claim.metadata
  const target = targets.get({ name: claim.spec.targetName ?? '', namespace })
  if (claim.status?.phase !== 'Bound' || !target || isDeleting(target)) return false
  const isMadeForIt =
    target.metadata.labels?.[labels.claimUid] === uid && SPACE_PROVISIONERS.includes(provisionedByOf(target) ?? '')
  return isMadeForIt && claimRefOf(target)?.uid === uid
}

const requestOf = (claim: DeploymentTargetClaim, { requests }: ProvisioningContext): SpaceRequest | undefined =>
  [...requests.by(byClaim, claim.metadata.uid ?? ''), ...requests.by(byClaim, keyOf(refOf(claim)))].find((request) =>
    isMadeFor(request, claim),
  )

async function ask(claim: DeploymentTargetClaim, from: DeploymentTargetClass, { context }: ProvisioningContext): Promise<void> {
  const request = requestFor(claim, from)
  const { there } = await createOnce(context.kube, SpaceRequests, request, MANAGER).catch((failure: unknown) => {
    if (isNamespaceTerminating(failure)) return { there: undefined } // And the claim with it.
    throw failure
  })
  // Ours, and the cache lags behind; or somebody else's, which is never taken over.
  if (!there || isMadeFor(there, claim)) return
  throw new Failure('invalid', `SpaceRequest ${request.metadata.name} is there already and was not made for this claim`, {
    reason: 'SpaceRequestTaken',
    remedy: 'Delete that SpaceRequest, or make the claim anew under another name',
  })
}

/**
 * A claim that grew makes its request grow, where the class allows it; a private one that a workspace took, or got an owner, says who gets in.
 * One that is on its way out is waited for.
 */
async function follow(
  claim: DeploymentTargetClaim,
  from: DeploymentTargetClass,
  request: SpaceRequest,
  { context }: ProvisioningContext,
): Promise<Next> {
  const { resources } = claim.spec
  const mayChange = claim.status?.phase !== 'Bound' || from.spec.allowTargetResourceExpansion === true
  const grows = mayChange && resources !== undefined && !isDeepStrictEqual(resources, request.spec.resources)
  const privateTo = privateToOf(claim)
  const isTaken = isPrivate(request) && privateTo !== undefined && privateTo !== privateToOf(request)
  if (isDeleting(request) || !(grows || isTaken)) return settled()
  const { resourceVersion } = request.metadata
  await context.kube.patch(
    SpaceRequests,
    refOf(request),
    {
      metadata: { resourceVersion, ...(isTaken && { annotations: { [annotations.privateTo]: privateTo } }) },
      ...(grows && { spec: { resources } }),
    },
    { manager: MANAGER },
  )
  return settled()
}
