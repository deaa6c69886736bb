import { conditionOf, isDeleting, type SpaceRequest, type SpaceRequestStatus, type Statement, sayKept } from '../../api/index.ts'
import { type StatusDraft, sentenceOf } from '../../engines/controller/index.ts'
import { type Failure, timestamp } from '../../std/index.ts'
import type { SpaceCredentials } from './credentials.ts'

type Reason = 'Provisioning' | 'Provisioned' | 'UnableToProvision' | 'Terminating' | 'UnableToTerminate'

/** A namespace that was made, and how to get in. */
export interface MadeSpace {
  /** Of the API of its cluster. */
  url: string
  namespace: string
  access: SpaceCredentials
}

/** `keptFor`: the claim for which it is kept, although somebody deleted the request. */
export const provisioned = (request: SpaceRequest, space: MadeSpace, keptFor: string | undefined): StatusDraft => ({
  targetClusterURL: space.url,
  namespaceAccess: accessTo(space),
  conditions: [
    ready(request, 'Provisioned', keptFor === undefined ? '' : sayKept('spacerequest', request, keptFor)),
    ...errorOver(request),
  ],
})

const accessTo = ({ namespace, access }: MadeSpace) => [
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

/**
 * The user's mistake. What was made before is kept up meanwhile. `Ready` keeps to the reasons that upstream has; which mistake it is
 * stands beside it.
 */
export function refused(request: SpaceRequest, failure: Failure, kept: MadeSpace | undefined): StatusDraft {
  const { conditions: [unready] = [], ...status } = afterFailure(request, failure)
  const error = unready && { ...unready, type: ERROR, status: 'True' as const, reason: failure.reason ?? unready.reason }
  return {
    ...status,
    ...(kept && { targetClusterURL: kept.url, namespaceAccess: accessTo(kept) }),
    conditions: unready && error ? [unready, error] : [],
  }
}

const ERROR = 'ErrorOccurred'

/** A condition that is not stated stays, so the end of the error is said where it was. */
const errorOver = ({ status }: SpaceRequest): Statement[] =>
  conditionOf(status?.conditions, ERROR) ? [{ type: ERROR, status: 'False', reason: 'Success', message: '' }] : []

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
    conditions: [ready(request, reason, message), ...errorOver(request)],
  }
}

const ready = ({ metadata }: SpaceRequest, reason: Reason, message: string): Statement => ({
  type: 'Ready',
  status: reason === 'Provisioned' ? 'True' : 'False',
  reason,
  message,
  ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
})
