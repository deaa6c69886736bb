import { isNamespaceTerminating } from '../../../adapters/kube/index.ts'
import {
  byClaim,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  DeploymentTargetClasses,
  DeploymentTargets,
  keyOf,
  labels,
  type Ref,
  refOf,
  SPACE_PROVISIONERS,
  type SpaceRequest,
  SpaceRequests,
} from '../../../api/index.ts'
import { type Controller, type ControllerContext, settled } from '../../../engines/controller/index.ts'
import { MANAGER, makeTarget } from './reconcile.ts'

interface TargetSettings {
  /** For development only: targets are reached without verifying the certificate of their API server. */
  insecureSkipTLSVerify?: boolean | undefined
}

/** Makes DeploymentTargets of the SpaceRequests that the devsandbox provisioner asked for. */
export function sandboxTargets(context: ControllerContext, settings: TargetSettings = {}): Controller<SpaceRequest> {
  const { caches } = context
  const requests = caches.of(SpaceRequests)
  const provisioning = {
    context,
    claims: caches.of(DeploymentTargetClaims),
    classes: caches.of(DeploymentTargetClasses),
    targets: caches.of(DeploymentTargets),
    insecureSkipTLSVerify: settings.insecureSkipTLSVerify ?? false,
  }
  const ofClaim = ({ metadata }: DeploymentTargetClaim): Ref[] =>
    [...requests.by(byClaim, metadata.uid ?? ''), ...requests.by(byClaim, keyOf({ ...metadata }))].map(refOf)
  const ofTarget = ({ metadata }: DeploymentTarget): Ref[] =>
    requests.by(byClaim, metadata.labels?.[labels.claimUid] ?? 'none').map(refOf)
  return {
    name: MANAGER,
    kind: SpaceRequests,
    watches: [
      { kind: DeploymentTargetClaims, wakes: ofClaim },
      { kind: DeploymentTargets, wakes: ofTarget },
      {
        kind: DeploymentTargetClasses,
        wakes: ({ spec }: DeploymentTargetClass) =>
          SPACE_PROVISIONERS.includes(spec.provisioner) ? [...requests.all()].map(refOf) : [],
      },
    ],
    async reconcile(request) {
      try {
        return await makeTarget(request, provisioning)
      } catch (failure) {
        // The namespace is being deleted, and the claim, the request and everything else in it.
        if (isNamespaceTerminating(failure)) return settled()
        throw failure
      }
    },
  }
}
