import type { EnvironmentSpec, EnvironmentStatus } from './generated/environment.ts'
import type { CustomObject, Kind } from './kube-object.ts'

export type { EnvironmentSpec, EnvironmentStatus }

/** A destination that deliveries can name. */
export type Environment = CustomObject<EnvironmentSpec, EnvironmentStatus>

export const Environments: Kind<Environment> = {
  group: 'appstudio.redhat.com',
  version: 'v1alpha1',
  kind: 'Environment',
  plural: 'environments',
  namespaced: true,
}
