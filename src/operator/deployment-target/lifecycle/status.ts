import { type DeploymentTarget, type DeploymentTargetStatus, isDeleting, type Statement } from '../../../api/index.ts'
import type { Failure } from '../../../std/index.ts'
import type { Opinion } from './credentials.ts'

type Phase = NonNullable<DeploymentTargetStatus['phase']>
type Policy = NonNullable<DeploymentTargetStatus['reclaimPolicy']>

export interface Verdict {
  phase: Phase
  reason: string
  message: string
  credentials: Opinion
  policy?: Policy | undefined
  lastClaim?: DeploymentTargetStatus['lastClaim']
  releasedAt?: string | undefined
  error?: string
}

export function statusOf(verdict: Verdict) {
  const { phase, reason, message, credentials, policy, lastClaim, releasedAt, error } = verdict
  const isReady = phase === 'Available' || (phase === 'Bound' && credentials.usable)
  return {
    phase,
    ...(policy && { reclaimPolicy: policy }),
    ...(lastClaim && { lastClaim }),
    ...(releasedAt !== undefined && { releasedAt }),
    conditions: [
      { type: 'Ready', status: isReady ? 'True' : 'False', reason, message },
      {
        type: 'CredentialsValid',
        status: credentials.usable ? 'True' : 'False',
        reason: credentials.reason,
        message: credentials.message,
      },
      errorCondition(error),
    ] satisfies Statement[],
  }
}

const errorCondition = (error: string | undefined): Statement =>
  error === undefined
    ? { type: 'ErrorOccurred', status: 'False', reason: 'Success', message: '' }
    : { type: 'ErrorOccurred', status: 'True', reason: 'ErrorOccurred', message: error }

/** Not claimed: usable credentials make it Available. */
export const onOffer = (credentials: Opinion, reservedFor: string | undefined): Verdict =>
  credentials.usable
    ? {
        phase: 'Available',
        reason: 'Available',
        message: reservedFor ? `waits for DeploymentTargetClaim ${reservedFor}` : 'waits for a claim',
        credentials,
      }
    : { phase: 'Pending', reason: credentials.reason, message: credentials.message, credentials }

export const had = (claim: string, credentials: Opinion, policy: Policy): Verdict => ({
  phase: 'Bound',
  reason: credentials.usable ? 'Bound' : credentials.reason,
  message: credentials.usable ? `belongs to DeploymentTargetClaim ${claim}` : credentials.message,
  credentials,
  policy,
})

export const released = (target: DeploymentTarget, credentials: Opinion, now: string): Verdict => {
  const lastClaim = target.status?.lastClaim
  const next = isDeleting(target)
    ? 'being freed by its provisioner'
    : 'not freed; annotate it with berth.dev/recycle=true to offer it again, or delete it'
  return {
    phase: 'Released',
    reason: 'Released',
    message: `was released by DeploymentTargetClaim ${lastClaim?.name ?? ''}; what it stands for is ${next}`,
    credentials,
    policy: target.status?.reclaimPolicy,
    lastClaim,
    releasedAt: target.status?.releasedAt ?? now,
  }
}

export const failed = (target: DeploymentTarget, credentials: Opinion, why: string, now: string): Verdict => ({
  ...released(target, credentials, now),
  phase: 'Failed',
  reason: 'ReclaimFailed',
  message: `what the target stands for could not be freed: ${why}. It is tried again; remove what hangs.`,
  error: `unable to free the resources of DeploymentTarget ${target.metadata.name}: ${why}`,
})

export function statusAfter(target: DeploymentTarget, failure: Failure) {
  const { conditions: _, observedGeneration: __, ...rest } = target.status ?? {}
  const message = failure.code === 'internal' ? 'unexpected internal error occurred in DT controller' : failure.message
  return {
    ...rest,
    conditions: [{ type: 'ErrorOccurred', status: 'True', reason: 'ErrorOccurred', message } satisfies Statement],
  }
}
