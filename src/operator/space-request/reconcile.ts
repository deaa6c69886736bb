import type { Cache } from '../../adapters/kube/index.ts'
import {
  annotations,
  byClaimUid,
  claimRefOf,
  type DeploymentTarget,
  finalizers,
  hasFinalizer,
  isDeleting,
  isDeletionConfirmed,
  isLeaving,
  keyOf,
  labels,
  type Quantities,
  refOf,
  type SpaceRequest,
  SpaceRequests,
  type SpaceTier,
  type SpaceTierSpec,
  withFinalizer,
} from '../../api/index.ts'
import { type ControllerContext, type Next, sentenceOf, settled } from '../../engines/controller/index.ts'
import { Failure, minutes, seconds } from '../../std/index.ts'
import type { SpaceAllowance } from './allowance.ts'
import { cleanUp, leaveBehind } from './clean-up.ts'
import { type CredentialServices, keepCredentials, type SpaceCredentials } from './credentials.ts'
import { unableBecause, unableToProvision } from './failures.ts'
import { assertLeave } from './leave.ts'
import { keepNamespace, namespaceFor } from './namespace.ts'
import { MANAGER } from './pieces.ts'
import { quotaOf } from './quota.ts'
import type { Sites } from './sites.ts'
import { isNews, type MadeSpace, provisioned, provisioning, refused, terminating } from './status.ts'

/** The services and caches that all requests share. */
export interface SpaceServices extends Pick<CredentialServices, 'secrets'> {
  context: ControllerContext
  sites: Sites
  tiers: Cache<SpaceTier>
  targets: Cache<DeploymentTarget>
  allowance: SpaceAllowance
}

/** With the cluster that the request is about. */
type RequestServices = SpaceServices & CredentialServices

/** A request gets a namespace as its tier says, and credentials for it that are renewed as long as it exists. */
export async function reconcileRequest(request: SpaceRequest, services: SpaceServices): Promise<Next> {
  const { sites, context } = services
  if (isDeleting(request) && sites.isLost(request)) return leaveBehind(request, context)
  try {
    const found = sites.of(request)
    if ('site' in found) return await workOn(request, { ...services, site: found.site })
    services.allowance.withdraw(request)
    // Its watches wake the request when they have begun.
    return settled({
      status: isDeleting(request) ? terminating(request, found.why) : provisioning(request, found.why),
      recheck: minutes(1),
    })
  } catch (thrown) {
    services.allowance.withdraw(request)
    return told(request, Failure.from(thrown), undefined, services)
  }
}

async function workOn(before: SpaceRequest, services: RequestServices): Promise<Next> {
  const { context, site } = services
  const keptFor = isDeleting(before) ? claimOf(before, services) : undefined
  if (isDeleting(before) && keptFor === undefined) return cleanUp(before, services)

  const plan = await planOf(before, services)
  if (plan instanceof Failure) return refuse(before, plan, services)
  const { tier, quota } = plan
  // Nothing may exist elsewhere before the finalizer does, or a fast delete would leave it behind.
  const request = hasFinalizer(before, finalizers.spaceRequest) ? before : await addFinalizer(before, context)

  const { metadata } = await keepNamespace(site, request, tier)
  if (metadata.deletionTimestamp !== undefined) {
    const message = `somebody deleted namespace ${metadata.name}; it is made anew when it is gone`
    return settled({ object: request, status: provisioning(request, message) })
  }
  // Limits come before credentials: nobody is in the namespace while it has none.
  const space = { request, namespace: metadata.name, tier, quota }
  await site.pieces.keep(space)
  const access = await keepCredentials(services, space)
  const status = provisioned(request, { url: site.endpoint().server, namespace: metadata.name, access }, keptFor)
  if (keptFor !== undefined && isNews(request, status))
    context.events.record(request, { type: 'Warning', reason: 'KeptForClaim', message: status.conditions?.[0]?.message ?? '' })
  return settled({ object: request, status, recheck: untilRenewal(access, services) })
}

/** The claim that has the target that was made of the request: with the request all that is in the namespace would go. */
function claimOf(request: SpaceRequest, { targets }: SpaceServices): string | undefined {
  const { namespace, labels: marks = {} } = request.metadata
  const uid = marks[labels.claimUid]
  if (uid === undefined || isDeletionConfirmed(request)) return undefined
  const isItsTarget = (made: DeploymentTarget) =>
    made.metadata.namespace === namespace &&
    made.metadata.annotations?.[annotations.spaceRequest] === keyOf(refOf(request)) &&
    claimRefOf(made)?.uid === uid &&
    made.status?.phase === 'Bound' &&
    !isLeaving(made)
  const target = targets.by(byClaimUid, uid).find(isItsTarget)
  return target && claimRefOf(target)?.name
}

/** The space that was made before goes on working while the request is at fault: its credentials are renewed, and in time. */
async function refuse(request: SpaceRequest, why: Failure, services: RequestServices): Promise<Next> {
  const isAtFault = why.code === 'invalid' || why.code === 'forbidden'
  return told(request, why, isAtFault ? await keepUp(request, services) : undefined, services)
}

/** A user's mistake is told once, and looked at again when the request or its tier changes; the rest is the loop's. */
function told(request: SpaceRequest, why: Failure, kept: MadeSpace | undefined, services: SpaceServices): Next {
  if (why.code !== 'invalid') throw why
  const status = refused(request, why, kept)
  const { reason = 'UnableToProvision' } = why
  if (isNews(request, status)) services.context.events.record(request, { type: 'Warning', reason, message: sentenceOf(why) })
  return settled({ status, recheck: kept && untilRenewal(kept.access, services) })
}

async function keepUp(request: SpaceRequest, services: RequestServices): Promise<MadeSpace | undefined> {
  const there = namespaceFor(services.site, request)
  const account = there && services.site.accountIn(there.metadata.name)
  if (!there || !account || isDeleting(there)) return undefined
  const { name: namespace } = there.metadata
  const tier = { serviceAccountName: account.metadata.name }
  const space = { request, namespace, tier, quota: {} }
  await services.site.pieces.enter(space)
  const access = await keepCredentials(services, space)
  return { url: services.site.endpoint().server, namespace, access }
}

const untilRenewal = ({ renewAt }: SpaceCredentials, { context }: SpaceServices): number | undefined =>
  renewAt === undefined ? undefined : Math.max(renewAt - context.clock.now(), seconds(1))

/** The tier and the quota of the space, or why it cannot be made. */
async function planOf(
  request: SpaceRequest,
  services: RequestServices,
): Promise<{ tier: SpaceTierSpec; quota: Quantities } | Failure> {
  try {
    const tier = tierOf(request, services)
    const quota = quotaOf(request, tier.metadata.name, tier.spec)
    await assertLeave(services.context.kube, request, tier, namespaceFor(services.site, request))
    return services.allowance.reserve(request, tier) ?? { tier: tier.spec, quota }
  } catch (thrown) {
    services.allowance.withdraw(request)
    return Failure.from(thrown)
  }
}

function tierOf({ spec }: SpaceRequest, { tiers }: SpaceServices): SpaceTier {
  if (spec.tierName.trim() === '') throw unableToProvision('tierName cannot be blank', 'Name a SpaceTier in spec.tierName')
  const [role] = spec.targetClusterRoles ?? []
  if (role !== undefined)
    throw unableToProvision(
      `no other cluster is known, so none with the role "${role}"`,
      'Leave spec.targetClusterRoles empty for this cluster',
    )
  const tier = tiers.get({ name: spec.tierName })
  if (tier) return tier
  const names = [...tiers.all()].map(({ metadata }) => metadata.name).sort()
  const remedy = names.length > 0 ? `Name one of: ${names.join(', ')}` : 'Ask the platform engineer to create it'
  throw unableBecause('TierNotFound', `there is no SpaceTier "${spec.tierName}"`, remedy)
}

const addFinalizer = (request: SpaceRequest, { kube }: ControllerContext): Promise<SpaceRequest> =>
  kube.patch(SpaceRequests, refOf(request), withFinalizer(request, finalizers.spaceRequest), { manager: MANAGER })
