import { accountOfUser, type Subject as BindingSubject, Roles } from '../../api/index.ts'
import type { Kube } from './kube.ts'

/** Somebody, as the API server knows them: with all groups, `system:authenticated` among them. */
export interface Subject {
  user: string
  groups: readonly string[]
  uid?: string | undefined
  extra?: Readonly<Record<string, readonly string[]>> | undefined
}

/** What they want to do. */
export interface Attributes {
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

interface AccessReview {
  status?: { allowed?: boolean }
}

/** Whether the cluster's authorizers allow it, asked by SubjectAccessReview in our own name. */
export async function isAllowed(kube: Kube, subject: Subject, resourceAttributes: Attributes): Promise<boolean> {
  const { status } = await kube.post<AccessReview>('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { ...subject, resourceAttributes },
  })
  return status?.allowed === true
}

/** Whether we ourselves may do it. Everybody who is known to the API server may ask that. */
export async function isAllowedToUs(kube: Kube, resourceAttributes: Attributes): Promise<boolean> {
  const { status } = await kube.post<AccessReview>('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  })
  return status?.allowed === true
}

/** Our user name, as the API server has it; `undefined` if it does not say. */
export async function whoWeAre(kube: Kube): Promise<string | undefined> {
  const { status } = await kube.post<{ status?: { userInfo?: { username?: string } } }>(
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  )
  return status?.userInfo?.username
}

/** Our user name; `undefined` where we may do this in all namespaces, so that nobody needs to let us into one. */
export async function whoNeedsEntry(kube: Kube, attributes: Omit<Attributes, 'namespace'>): Promise<string | undefined> {
  return (await isAllowedToUs(kube, { ...attributes, namespace: '' })) ? undefined : whoWeAre(kube)
}

/** A user as role bindings name them. */
export function subjectOf(user: string): BindingSubject {
  const account = accountOfUser(user)
  return account ? { kind: 'ServiceAccount', ...account } : { kind: 'User', apiGroup: Roles.group, name: user }
}
