import type { Cache } from '../../../adapters/kube/index.ts'
import {
  annotations,
  byClaimUid,
  type DeploymentTarget,
  type DeploymentTargetClass,
  labels,
  SPACE_PROVISIONERS,
  type SpaceRequest,
} from '../../../api/index.ts'

/** Says what becomes of a request whose claim is gone. */
export function orphanPolicy(
  request: SpaceRequest,
  { targets, classes }: { targets: Cache<DeploymentTarget>; classes: Cache<DeploymentTargetClass> },
): 'keep' | 'delete' | 'unknown' {
  const { namespace, labels: marks = {}, annotations: notes = {} } = request.metadata
  const name = marks[labels.target]
  // The target goes first, and takes the request along or leaves it, as its policy says.
  if (name !== undefined && targets.get({ name, namespace })) return 'keep'
  const uid = marks[labels.claimUid]
  if (uid !== undefined && targets.by(byClaimUid, uid).some((target) => target.metadata.namespace === namespace)) return 'keep'
  const policy = notes[annotations.reclaimPolicy] ?? commonPolicy(classes)
  return policy === 'Delete' ? 'delete' : policy === 'Retain' ? 'keep' : 'unknown'
}

/** A request that Berth did not make carries no policy: what all classes of these provisioners say, if they agree. */
function commonPolicy(classes: Cache<DeploymentTargetClass>): string | undefined {
  const ours = [...classes.all()].filter(({ spec }) => SPACE_PROVISIONERS.includes(spec.provisioner))
  const policies = new Set(ours.map(({ spec }) => spec.reclaimPolicy))
  return policies.size === 1 ? [...policies][0] : undefined
}
