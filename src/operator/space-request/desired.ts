import {
  annotations,
  type Kind,
  keyOf,
  LimitRanges,
  labels,
  MANAGED_BY_BERTH,
  type Namespace,
  Namespaces,
  NetworkPolicies,
  type ObjectMeta,
  type PolicyRule,
  privateToOf,
  ResourceQuotas,
  RoleBindings,
  Roles,
  refOf,
  ServiceAccounts,
  type SpaceRequest,
  type SpaceTierSpec,
  typeMetaOf,
} from '../../api/index.ts'
import type { Piece } from '../../engines/apply/index.ts'
import { asLabel } from './names.ts'

/** A namespace that a request gets, and what its tier wants of it. */
export interface Space {
  request: SpaceRequest
  namespace: string
  tier: SpaceTierSpec
  /** The tier's quota, narrowed to what the claim asks for. */
  quota: Record<string, number | string>
}

/** The service account whose credentials the requester gets; none when the tier says so. */
export const serviceAccountOf = ({ serviceAccountName }: SpaceTierSpec): string => serviceAccountName ?? 'namespace-manager'

/** Marks an object as one of the space of this request. */
export const ownLabels = (request: SpaceRequest): Record<string, string> => ({
  [labels.spaceRequestUid]: request.metadata.uid ?? '',
  [labels.managedBy]: MANAGED_BY_BERTH,
})

export function namespaceOf(request: SpaceRequest, tier: SpaceTierSpec, name: string): Namespace {
  const { metadata, spec } = request
  const keys = { labels: Object.keys(tier.labels ?? {}), annotations: Object.keys(tier.annotations ?? {}) }
  return {
    ...typeMetaOf(Namespaces),
    metadata: {
      name,
      labels: {
        ...tier.labels,
        ...asLabel(labels.spaceRequest, metadata.name),
        ...asLabel(labels.tier, spec.tierName),
        [labels.spaceRequestNamespace]: metadata.namespace ?? '',
        [labels.podSecurity]: tier.podSecurityLevel ?? 'restricted',
        ...ownLabels(request),
      },
      annotations: {
        ...tier.annotations,
        [annotations.spaceRequest]: keyOf(refOf(request)),
        [annotations.tierKeys]: JSON.stringify(keys),
      },
    },
  }
}

/** Of the roles that have the same rights as `admin` and `edit` but for those to Berth's kinds, which spaces are not to have. */
export const SPACE_ROLE_PREFIX = 'berth-space-'

/** Everything in the namespace that the tier asks for. `hasBerth`: Berth's kinds and roles are in that cluster. */
export function piecesOf(space: Space, hasBerth: boolean): Piece[] {
  const { tier, quota } = space
  return [
    ...(Object.keys(quota).length > 0 ? [piece(space, ResourceQuotas, 'tier', { spec: { hard: quota } })] : []),
    ...(tier.limitRange?.length ? [piece(space, LimitRanges, 'tier', { spec: { limits: tier.limitRange } })] : []),
    ...(tier.networkPolicies ?? []).map(({ name, spec }) => piece(space, NetworkPolicies, name, { spec })),
    ...(serviceAccountOf(tier) === '' ? [] : accessOf(space, hasBerth)),
  ]
}

function accessOf(space: Space, hasBerth: boolean): Piece[] {
  const { tier } = space
  const nameRole = (role: string) => (hasBerth && ['admin', 'edit'].includes(role) ? `${SPACE_ROLE_PREFIX}${role}` : role)
  const roles = tier.roles ?? []
  const given = roles.length > 0 ? roles.map(({ name }) => name) : [nameRole(tier.clusterRole ?? 'admin')]
  const kind = roles.length > 0 ? 'Role' : 'ClusterRole'
  return [
    piece(space, ServiceAccounts, serviceAccountOf(tier), {}),
    ...roles.map(({ name, rules }) => piece(space, Roles, name, { rules: rules.map(plainRule) })),
    ...given.map((name) => bindingOf(space, kind, name)),
  ]
}

/**
 * A binding can't be turned to another role; so its name says which, and another role is another binding. Nobody has the credentials of a
 * private space: so who is to get in has the same rights in his own name.
 */
function bindingOf(space: Space, kind: 'Role' | 'ClusterRole', role: string): Piece {
  const account = serviceAccountOf(space.tier)
  const person = privateToOf(space.request)
  return piece(space, RoleBindings, `${account}-${role}`, {
    roleRef: { apiGroup: Roles.group, kind, name: role },
    subjects: [
      { kind: 'ServiceAccount', name: account, namespace: space.namespace },
      ...(person ? [{ kind: 'User', apiGroup: Roles.group, name: person }] : []),
    ],
  })
}

/** RBAC wants groups and resources written out; a tier may leave out what is the core group. */
const plainRule = ({ apiGroups, ...rule }: PolicyRule): PolicyRule => ({ apiGroups: apiGroups ?? [''], ...rule })

export function piece(space: Space, kind: Kind, name: string, body: object): Piece {
  const metadata: ObjectMeta = { name, namespace: space.namespace, labels: ownLabels(space.request) }
  return { kind, object: { ...typeMetaOf(kind), metadata, ...body } }
}
