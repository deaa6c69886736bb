import { conditionOf, isDeleting, type SpaceRequest, type SpaceRequestStatus, type Statement } from '../../api/index.ts'
import { type StatusDraft, sentenceOf } from '../../engines/controller/index.ts'
import { type Failure, timestamp } from '../../std/index.ts'
import type { SpaceCredentials } from './credentials.ts'

type Reason = 'Provisioning' | 'Provisioned' | 'UnableToProvision' | 'Terminating' | 'UnableToTerminate'

export const provisioned = (request: SpaceRequest, url: string, namespace: string, access: SpaceCredentials): StatusDraft => ({
  targetClusterURL: url,
  namespaceAccess: accessTo({ namespace, access }),
  conditions: [ready(request, 'Provisioned', '')],
})

const accessTo = ({ namespace, access }: { namespace: string; access: SpaceCredentials }) => [
  {
    name: namespace,
    secretRef: access.secretRef,
    ...(access.expiresAt !== undefined && { expiresAt: timestamp(access.expiresAt) }),
    ...(access.agent !== undefined && { agent: access.agent }),
    ...(access.serviceAccountName && { serviceAccountName: access.serviceAccountName }),
  },
]

export const provisioning = (request: SpaceRequest, message: string): StatusDraft => still(request, 'Provisioning', message)

export const terminating = (request: SpaceRequest, message: string): StatusDraft => still(request, 'Terminating', message)

export const unableToTerminate = (request: SpaceRequest, message: string): StatusDraft =>
  still(request, 'UnableToTerminate', message)

export const afterFailure = (request: SpaceRequest, failure: Failure): StatusDraft =>
  still(request, isDeleting(request) ? 'UnableToTerminate' : 'UnableToProvision', sentenceOf(failure))

/** The user's mistake. What was made before is kept up meanwhile. */
export const refused = (
  request: SpaceRequest,
  failure: Failure,
  kept: { url: string; namespace: string; access: SpaceCredentials } | undefined,
): StatusDraft => ({
  ...afterFailure(request, failure),
  ...(kept && { targetClusterURL: kept.url, namespaceAccess: accessTo(kept) }),
})

/** The status says something else so far. */
export function isNews({ status }: SpaceRequest, { conditions = [] }: StatusDraft): boolean {
  const [now, before] = [conditions[0], conditionOf(status?.conditions, 'Ready')]
  return before?.reason !== now?.reason || before?.message !== now?.message
}

/** Access that was given before stays written: it is there, even while something is amiss. */
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
