import { isDeleting, type SpaceRequest, type SpaceRequestStatus, type Statement } from '../../api/index.ts'
import { type StatusDraft, sentenceOf } from '../../engines/controller/index.ts'
import { type Failure, timestamp } from '../../std/index.ts'
import type { Access } from './credentials.ts'

type Reason = 'Provisioning' | 'Provisioned' | 'UnableToProvision' | 'Terminating' | 'UnableToTerminate'

export const provisioned = (request: SpaceRequest, url: string, namespace: string, access: Access): StatusDraft => ({
  targetClusterURL: url,
  namespaceAccess: [
    {
      name: namespace,
      secretRef: access.secretRef,
      ...(access.expiresAt !== undefined && { expiresAt: timestamp(access.expiresAt) }),
    },
  ],
  conditions: [ready(request, 'Provisioned', '')],
})

export const provisioning = (request: SpaceRequest, message: string): StatusDraft => still(request, 'Provisioning', message)

export const terminating = (request: SpaceRequest, message: string): StatusDraft => still(request, 'Terminating', message)

export const unableToTerminate = (request: SpaceRequest, message: string): StatusDraft =>
  still(request, 'UnableToTerminate', message)

export const afterFailure = (request: SpaceRequest, failure: Failure): StatusDraft =>
  still(request, isDeleting(request) ? 'UnableToTerminate' : 'UnableToProvision', sentenceOf(failure))

/** What was given out before stays written: it is there, even while something is amiss. */
function still(request: SpaceRequest, reason: Reason, message: string): StatusDraft {
  const { targetClusterURL, namespaceAccess }: SpaceRequestStatus = request.status ?? {}
  return {
    ...(targetClusterURL !== undefined && { targetClusterURL }),
    ...(namespaceAccess && { namespaceAccess }),
    conditions: [ready(request, reason, message)],
  }
}

const ready = ({ metadata }: SpaceRequest, reason: Reason, message: string): Statement => ({
  type: 'Ready',
  status: reason === 'Provisioned' ? 'True' : 'False',
  reason,
  message,
  ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
})
