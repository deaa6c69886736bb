import { accountOfUser, type Kind, Roles, type Subject } from '../../api/index.ts'
import type { Kube } from './kube.ts'

/** Somebody, as the API server knows them: with all groups, `system:authenticated` among them. */
export interface AccessSubject {
  user: string
  groups: readonly string[]
  uid?: string | undefined
  extra?: Readonly<Record<string, readonly string[]>> | undefined
}

/** The action that they want to do. */
export interface ResourceAttributes {
  group: string
  /** The plural. */
  resource: string
  subresource?: string | undefined
  verb: string
  /** Empty: in all of them. */
  namespace: string
  /** Without it all objects are meant. */
  name?: string | undefined
}

/** Asks whether the cluster's authorizers allow it, by SubjectAccessReview in our own name. */
export async function isAllowed(kube: Kube, subject: AccessSubject, resourceAttributes: ResourceAttributes): Promise<boolean> {
  const spec = { ...subject, resourceAttributes }
  return (await review<AccessReviewStatus>(kube, 'authorization.k8s.io/v1', 'SubjectAccessReview', spec)).allowed === true
}

/** Of them the API server asks nobody: they may do everything. */
const SUPERUSERS = 'system:masters'

/** Asks whether somebody may use the class or tier of that name in a namespace. `requester`: as `requesterOf` names them. */
export async function mayUse(
  kube: Kube,
  requester: string,
  { kind, name, namespace }: { kind: Kind; name: string; namespace: string },
): Promise<boolean> {
  const [user = '', ...given] = requester.split('\n')
  const groups = given.length > 0 ? given : ['system:authenticated']
  if (groups.includes(SUPERUSERS)) return true
  return isAllowed(kube, { user, groups }, { group: kind.group, resource: kind.plural, name, namespace, verb: 'use' })
}

/** Asks whether we ourselves may do it. Everybody who is known to the API server may ask that. */
export async function isAllowedToUs(kube: Kube, resourceAttributes: ResourceAttributes): Promise<boolean> {
  const spec = { resourceAttributes }
  return (await review<AccessReviewStatus>(kube, 'authorization.k8s.io/v1', 'SelfSubjectAccessReview', spec)).allowed === true
}

interface AccessReviewStatus {
  allowed?: boolean
}

/** Our user name, as the API server has it; `undefined` if it does not say. */
export async function whoWeAre(kube: Kube): Promise<string | undefined> {
  const { userInfo } = await review<{ userInfo?: { username?: string } }>(kube, 'authentication.k8s.io/v1', 'SelfSubjectReview')
  return userInfo?.username
}

/** Reviews are answered at once, and stored nowhere. */
export async function review<Status>(kube: Kube, apiVersion: string, kind: string, spec?: object): Promise<Partial<Status>> {
  const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`
  const { status } = await kube.post<{ status?: Status }>(path, { apiVersion, kind, ...(spec && { spec }) })
  return status ?? {}
}

/** Our user name; `undefined` where we may do this in all namespaces, so that nobody needs to let us into one. */
export async function whoNeedsEntry(kube: Kube, attributes: Omit<ResourceAttributes, 'namespace'>): Promise<string | undefined> {
  return (await isAllowedToUs(kube, { ...attributes, namespace: '' })) ? undefined : whoWeAre(kube)
}

/** A user as role bindings name them. */
export function subjectOf(user: string): Subject {
  const account = accountOfUser(user)
  return account ? { kind: 'ServiceAccount', ...account } : { kind: 'User', apiGroup: Roles.group, name: user }
}
