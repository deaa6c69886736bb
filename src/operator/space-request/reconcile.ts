import type { Cache } from '../../adapters/kube/index.ts'
import {
  finalizers,
  hasFinalizer,
  isDeleting,
  type Quantities,
  refOf,
  type SpaceRequest,
  SpaceRequests,
  type SpaceTier,
  type SpaceTierSpec,
  withFinalizer,
} from '../../api/index.ts'
import { type Next, sentenceOf, settled, type Workshop } from '../../engines/controller/index.ts'
import { Failure, minutes, seconds } from '../../std/index.ts'
import type { Allowance } from './allowance.ts'
import { cleanUp, leaveBehind } from './clean-up.ts'
import { type Access, type Keyring, keepCredentials } from './credentials.ts'
import { assertLeave } from './leave.ts'
import { keepNamespace, namespaceFor } from './namespace.ts'
import { MANAGER } from './pieces.ts'
import { quotaOf } from './quota.ts'
import type { Sites } from './sites.ts'
import { isNews, provisioned, provisioning, refused, terminating } from './status.ts'

/** What a reconcile of a request reads and writes with. */
export interface Desk extends Pick<Keyring, 'secrets'> {
  workshop: Workshop
  sites: Sites
  tiers: Cache<SpaceTier>
  allowance: Allowance
}

/** With the cluster that the request is about. */
type Bench = Desk & Keyring

/** A request gets a namespace as its tier says, and credentials for it that are renewed as long as it exists. */
export async function reconcileRequest(request: SpaceRequest, desk: Desk): Promise<Next> {
  const { sites, workshop } = desk
  if (isDeleting(request) && sites.isLost(request)) return leaveBehind(request, workshop)
  try {
    const found = sites.of(request)
    if ('site' in found) return await workOn(request, { ...desk, site: found.site })
    desk.allowance.withdraw(request)
    // Its watches wake the request when they have begun.
    return settled({
      status: isDeleting(request) ? terminating(request, found.why) : provisioning(request, found.why),
      recheck: minutes(1),
    })
  } catch (thrown) {
    desk.allowance.withdraw(request)
    return told(request, Failure.from(thrown), undefined, desk)
  }
}

async function workOn(before: SpaceRequest, desk: Bench): Promise<Next> {
  const { workshop, site } = desk
  if (isDeleting(before)) return cleanUp(before, desk)

  const plan = await planOf(before, desk)
  if (plan instanceof Failure) return refuse(before, plan, desk)
  const { tier, quota } = plan
  // Nothing may exist elsewhere before the finalizer does, or a fast delete would leave it behind.
  const request = hasFinalizer(before, finalizers.spaceRequest) ? before : await addFinalizer(before, workshop)

  const { metadata } = await keepNamespace(site, request, tier)
  if (metadata.deletionTimestamp !== undefined) {
    const message = `somebody deleted namespace ${metadata.name}; it is made anew when it is gone`
    return settled({ object: request, status: provisioning(request, message) })
  }
  // Limits come before credentials: nobody is in the namespace while it has none.
  const space = { request, namespace: metadata.name, tier, quota }
  await site.pieces.keep(space)
  const access = await keepCredentials(desk, space)
  return settled({
    object: request,
    status: provisioned(request, site.endpoint().server, metadata.name, access),
    recheck: untilRenewal(access, desk),
  })
}

/** What was made before goes on working while the request is at fault: its credentials are renewed, and in time. */
async function refuse(request: SpaceRequest, why: Failure, desk: Bench): Promise<Next> {
  const isAtFault = why.code === 'invalid' || why.code === 'forbidden'
  return told(request, why, isAtFault ? await keepUp(request, desk) : undefined, desk)
}

interface Kept {
  namespace: string
  access: Access
}

/** A user's mistake is told once, and looked at again when the request or its tier changes; the rest is the loop's. */
function told(request: SpaceRequest, why: Failure, kept: Kept | undefined, desk: Desk): Next {
  if (why.code !== 'invalid') throw why
  const status = refused(request, why, kept)
  const { reason = 'UnableToProvision' } = why
  if (isNews(request, status)) desk.workshop.events.record(request, { type: 'Warning', reason, message: sentenceOf(why) })
  return settled({ status, recheck: kept && untilRenewal(kept.access, desk) })
}

async function keepUp(request: SpaceRequest, desk: Bench): Promise<Kept | undefined> {
  const there = namespaceFor(desk.site, request)
  const account = there && desk.site.accountIn(there.metadata.name)
  if (!there || !account || isDeleting(there)) return undefined
  const { name: namespace } = there.metadata
  const tier = { serviceAccountName: account.metadata.name }
  const space = { request, namespace, tier, quota: {} }
  await desk.site.pieces.enter(space)
  const access = await keepCredentials(desk, space)
  return { namespace, access }
}

const untilRenewal = ({ renewAt }: Access, { workshop }: Desk): number | undefined =>
  renewAt === undefined ? undefined : Math.max(renewAt - workshop.clock.now(), seconds(1))

interface Plan {
  tier: SpaceTierSpec
  quota: Quantities
}

async function planOf(request: SpaceRequest, desk: Bench): Promise<Plan | Failure> {
  try {
    const tier = tierOf(request, desk)
    const quota = quotaOf(request, tier.metadata.name, tier.spec)
    await assertLeave(desk.workshop.kube, request, tier, namespaceFor(desk.site, request))
    return desk.allowance.reserve(request, tier) ?? { tier: tier.spec, quota }
  } catch (thrown) {
    desk.allowance.withdraw(request)
    return Failure.from(thrown)
  }
}

function tierOf({ spec }: SpaceRequest, { tiers }: Desk): SpaceTier {
  if (spec.tierName.trim() === '') throw refusal('tierName cannot be blank', 'Name a SpaceTier in spec.tierName')
  const [role] = spec.targetClusterRoles ?? []
  if (role !== undefined)
    throw refusal(
      `no other cluster is known, so none with the role "${role}"`,
      'Leave spec.targetClusterRoles empty for this cluster',
    )
  const tier = tiers.get({ name: spec.tierName })
  if (tier) return tier
  const names = [...tiers.all()].map(({ metadata }) => metadata.name).sort()
  const remedy = names.length > 0 ? `Name one of: ${names.join(', ')}` : 'Ask the platform engineer to create it'
  throw refusal(`there is no SpaceTier "${spec.tierName}"`, remedy)
}

const refusal = (message: string, remedy: string): Failure =>
  new Failure('invalid', message, { reason: 'UnableToProvision', remedy })

const addFinalizer = (request: SpaceRequest, { kube }: Workshop): Promise<SpaceRequest> =>
  kube.patch(SpaceRequests, refOf(request), withFinalizer(request, finalizers.spaceRequest), { manager: MANAGER })
