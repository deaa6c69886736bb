import type { Cache } from '../../../adapters/kube/index.ts'
import {
  annotations,
  byClaim,
  byMadeTarget,
  type DeploymentTarget,
  type DeploymentTargetClass,
  DeploymentTargets,
  finalizers,
  hasFinalizer,
  isDeleting,
  isLeaving,
  keyOf,
  labels,
  provisionedByOf,
  reclaimPolicyOf,
  refFromKey,
  refOf,
  SPACE_PROVISIONERS,
  type SpaceRequest,
  SpaceRequests,
  withoutFinalizer,
} from '../../../api/index.ts'
import { type ControllerContext, type Next, settled } from '../../../engines/controller/index.ts'
import { unlessFailed } from '../../../std/index.ts'

export const MANAGER = 'devsandbox-reclaim'

interface ReclaimServices {
  context: ControllerContext
  classes: Cache<DeploymentTargetClass>
  requests: Cache<SpaceRequest>
}

/** A target that this provisioner made and that is being deleted: what is behind it goes first, unless it is to be kept. */
export async function reclaim(target: DeploymentTarget, services: ReclaimServices): Promise<Next> {
  if (!SPACE_PROVISIONERS.includes(provisionedByOf(target) ?? '')) return settled()
  if (!isLeaving(target) || !hasFinalizer(target, finalizers.provisioner)) return settled()

  const requests = requestsOf(target, services)
  const ofClass = services.classes.get({ name: target.spec.deploymentTargetClassName })
  if (reclaimPolicyOf(target, { ofClass, madeFrom: requests }) !== 'Delete') return dropFinalizer(target, services)
  const left = requests.length > 0 ? requests : await requestsAsOfNow(target, services)
  if (left.length === 0) return dropFinalizer(target, services)
  for (const request of left.filter((each) => !isDeleting(each))) {
    await services.context.kube.delete(SpaceRequests, refOf(request), { uid: request.metadata.uid })
  }
  return settled() // The end of the request wakes the target.
}

function requestsOf({ metadata }: DeploymentTarget, { requests }: ReclaimServices): SpaceRequest[] {
  const uid = metadata.labels?.[labels.claimUid]
  const ofClaim = uid === undefined ? [] : requests.by(byClaim, uid)
  const found = [...new Set([...ofClaim, ...requests.by(byMadeTarget, keyOf(metadata))])]
  // Users write labels too: nothing in another namespace is ever freed with this target.
  return found.filter((request) => request.metadata.namespace === metadata.namespace)
}

/** Before the last thing that holds the target goes: the cache may not show yet what was made a moment ago. */
async function requestsAsOfNow({ metadata }: DeploymentTarget, { context }: ReclaimServices): Promise<SpaceRequest[]> {
  const [key, uid] = [metadata.annotations?.[annotations.spaceRequest], metadata.labels?.[labels.claimUid]]
  const ref = key === undefined ? undefined : refFromKey(key)
  const request = ref && ref.namespace === metadata.namespace ? await context.kube.get(SpaceRequests, ref) : undefined
  return request && uid !== undefined && request.metadata.labels?.[labels.claimUid] === uid ? [request] : []
}

async function dropFinalizer(target: DeploymentTarget, { context }: ReclaimServices): Promise<Next> {
  const patch = withoutFinalizer(target, finalizers.provisioner)
  // Gone is what we want.
  await unlessFailed(context.kube.patch(DeploymentTargets, refOf(target), patch, { manager: MANAGER }), 'not-found')
  return settled()
}
