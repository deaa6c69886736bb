import { type AnyObject, apiVersionOf, groupOf } from '../../../api/index.ts'
import type { ObjectId } from '../../apply/index.ts'

/** Limits of a destination, beside the rights of its credentials. They are set with the destination. */
export interface Limits {
  /** The namespaces that may be deployed to and deleted from; without it, whichever the rights allow. */
  namespaces?: readonly string[] | undefined
  /** Whether objects outside of namespaces may be touched, where `namespaces` are given. */
  clusterResources?: boolean | undefined
  /** `*` stands for every group or kind. Empty means all. */
  allowedKinds?: readonly { group: string; kind: string }[] | undefined
  /** Whether namespaces may carry labels that decide what their pods may do. */
  podSecurityLabels?: boolean | undefined
  /** The settings that a refusal tells people to change; those of a managed environment without it. */
  remedies?: { readonly allowedKinds?: string; readonly clusterResources?: string } | undefined
}

/**
 * https://kubernetes.io/docs/concepts/security/pod-security-admission/#pod-security-admission-labels-for-namespaces
 * OpenShift: whether it keeps those labels itself, and the run level at which its own check of pods is left out.
 */
const POD_SECURITY = ['pod-security.kubernetes.io/', 'security.openshift.io/', 'openshift.io/run-level']

export const isPodSecurity = (label: string): boolean => POD_SECURITY.some((start) => label.startsWith(start))

/** Why an object may not be deployed: the rest of a sentence about it. */
export function trespass(object: AnyObject, namespaced: boolean, limits: Limits): string | undefined {
  return strangeKind(object, limits) ?? outside(object, namespaced, limits) ?? weakened(object, limits)
}

/** The same of an object that is known by its name only: one with a namespace is namespaced. */
export function trespassOf({ group, kind, namespace, name }: ObjectId, limits: Limits): string | undefined {
  const object = { apiVersion: apiVersionOf({ group, version: 'v1' }), kind, metadata: { name, ...(namespace && { namespace }) } }
  return trespass(object, namespace !== undefined, limits)
}

/** Whether an object of ours may be deleted. Where limits were narrowed since it was made, it may not. */
export const isWithin = ({ namespace }: ObjectId, { namespaces = [], clusterResources }: Limits): boolean =>
  namespaces.length === 0 || (namespace === undefined ? clusterResources === true : namespaces.includes(namespace))

/** Why the destination's own namespace may not be made there. */
export function objectionToNamespace(name: string, limits: Limits): string | undefined {
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  const { namespaces = [] } = limits
  const isOutside = namespaces.length > 0 && !namespaces.includes(name)
  return strangeKind(object, limits) ?? (isOutside ? saysOutside(namespaces) : undefined)
}

function strangeKind({ apiVersion, kind }: AnyObject, { allowedKinds = [], remedies }: Limits): string | undefined {
  const group = groupOf(apiVersion)
  const isAllowed = allowedKinds.some((one) => (one.group === '*' || one.group === group) && ['*', kind].includes(one.kind))
  if (allowedKinds.length === 0 || isAllowed) return undefined
  const list = allowedKinds.map((one) => (one.group === '' ? one.kind : `${one.kind}.${one.group}`)).join(', ')
  return `may not be deployed there: the destination allows ${list}; ${remedies?.allowedKinds ?? ADD_THERE}`
}

function outside(
  { metadata: { namespace } }: AnyObject,
  namespaced: boolean,
  { namespaces = [], clusterResources, remedies }: Limits,
): string | undefined {
  if (namespaces.length === 0) return undefined
  if (!namespaced && !clusterResources)
    return `is cluster-scoped, and the destination allows namespaced objects only; ${remedies?.clusterResources ?? SET_THERE}`
  if (namespace !== undefined && !namespaces.includes(namespace))
    return `is of namespace ${namespace}, which ${saysOutside(namespaces)}; set metadata.namespace to ${namespaces.length > 1 ? 'one of these' : 'that one'}, or leave it out`
  return undefined
}

const ADD_THERE = 'add its kind to allowedKinds of the managed environment'
const SET_THERE = 'set clusterResources on the managed environment'

const saysOutside = (namespaces: readonly string[]): string => `is outside the destination, which allows ${namespaces.join(', ')}`

function weakened({ apiVersion, kind, metadata: { labels = {} } }: AnyObject, limits: Limits): string | undefined {
  if (kind !== 'Namespace' || groupOf(apiVersion) !== '' || limits.podSecurityLabels) return undefined
  const label = Object.keys(labels).find(isPodSecurity)
  return label && `carries the label ${label}, which ${DECIDES}`
}

export const DECIDES =
  'decides what pods may do; the destination must allow it by podSecurityLabels of its managed environment, or the label stays away'
