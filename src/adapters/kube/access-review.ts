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
