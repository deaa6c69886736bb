import { Failure } from '../std/index.ts'

/**
 * An admin of a namespace gives these to Berth's programs there, by a RoleBinding for each that has the name of its ClusterRole
 * (`deploy/operator/tenant.yaml`, `deploy/kas/tenant.yaml`).
 */
export const tenantRoles = { operator: 'berth-tenant-operator', kas: 'berth-tenant-kas' } as const

/** For who needs a Secret or a service account of a namespace that does not let Berth in. */
export const notOnboarded = (namespace: string): Failure =>
  new Failure('invalid', `namespace ${namespace} does not let Berth read its Secrets and act as its service accounts`, {
    reason: 'NamespaceNotOnboarded',
    remedy: `Ask one of its admins to run \`berth onboard ${namespace}\``,
  })
