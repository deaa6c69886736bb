import type { SpaceTierSpec, SpaceTierStatus } from './generated/space-tier.ts'
import type { CustomObject, Kind } from './kube-object.ts'

export type { SpaceTierSpec, SpaceTierStatus }

/** What a namespace made for a SpaceRequest looks like. Cluster-scoped. */
export type SpaceTier = CustomObject<SpaceTierSpec, SpaceTierStatus>

export const SpaceTiers: Kind<SpaceTier> = {
  group: 'berth.dev',
  version: 'v1alpha1',
  kind: 'SpaceTier',
  plural: 'spacetiers',
  namespaced: false,
}
