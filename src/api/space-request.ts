import type { SpaceRequestSpec, SpaceRequestStatus } from './generated/space-request.ts'
import type { CustomObject, Kind } from './kube-object.ts'

export type { SpaceRequestSpec, SpaceRequestStatus }

/** A request for a namespace of a tier. */
export type SpaceRequest = CustomObject<SpaceRequestSpec, SpaceRequestStatus>

export const SpaceRequests: Kind<SpaceRequest> = {
  group: 'toolchain.dev.openshift.com',
  version: 'v1alpha1',
  kind: 'SpaceRequest',
  plural: 'spacerequests',
  namespaced: true,
}
