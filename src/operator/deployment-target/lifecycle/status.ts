import {
  annotations,
  type DeploymentTarget,
  type DeploymentTargetStatus,
  isDeleting,
  isLeaving,
  isTrue,
  type ReclaimPolicy,
  type Statement,
  sayKept,
  YES,
} from '../../../api/index.ts'
import { sentenceOf } from '../../../engines/controller/index.ts'
import type { Failure } from '../../../std/index.ts'
import type { CredentialsAssessment } from './credentials.ts'
import { REACHABLE, type ReachabilityFinding } from './finding.ts'

type Phase = NonNullable<DeploymentTargetStatus['phase']>

/** The way into a target: its credentials, and whether its API answers with them. */
export interface TargetAccess extends CredentialsAssessment {
  finding: ReachabilityFinding | undefined
}

interface Verdict {
  phase: Phase
  reason: string
  message: string
  credentials: TargetAccess
  policy?: ReclaimPolicy | undefined
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
    ...(credentials.finding?.asked && { asked: credentials.finding.asked }),
    conditions: [
      { type: 'Ready', status: isReady ? 'True' : 'False', reason, message },
      credentialsCondition(credentials),
      ...(credentials.finding ? [{ type: REACHABLE, ...credentials.finding.answer }] : []),
      errorCondition(error),
    ] satisfies Statement[],
  }
}

const credentialsCondition = ({ usable, reason, message }: CredentialsAssessment): Statement => ({
  type: 'CredentialsValid',
  status: usable ? 'True' : 'False',
  reason,
  message,
})

const errorCondition = (error: string | undefined): Statement =>
  error === undefined
    ? { type: 'ErrorOccurred', status: 'False', reason: 'Success', message: '' }
    : { type: 'ErrorOccurred', status: 'True', reason: 'ErrorOccurred', message: error }

/** Not claimed: usable credentials make it Available. */
export const available = (credentials: TargetAccess, reservedFor: string | undefined): Verdict =>
  credentials.usable
    ? {
        phase: 'Available',
        reason: 'Available',
        message: reservedFor ? `waits for DeploymentTargetClaim ${reservedFor}` : 'waits for a claim',
        credentials,
      }
    : { phase: 'Pending', reason: credentials.reason, message: credentials.message, credentials }

export const bound = (claim: string, credentials: TargetAccess, policy: ReclaimPolicy): Verdict => ({
  phase: 'Bound',
  reason: credentials.usable ? 'Bound' : credentials.reason,
  message: credentials.usable ? `belongs to DeploymentTargetClaim ${claim}` : credentials.message,
  credentials,
  policy,
})

export const kept = (target: DeploymentTarget, claim: string, credentials: TargetAccess, policy: ReclaimPolicy): Verdict => ({
  ...bound(claim, credentials, policy),
  message: sayKept('dt', target, claim),
})

export const released = (target: DeploymentTarget, credentials: TargetAccess, now: string): Verdict => {
  const lastClaim = target.status?.lastClaim
  const next = isDeleting(target)
    ? 'being freed by its provisioner'
    : `not freed; annotate it with ${annotations.recycle}=${YES} to offer it again, or delete it`
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

export const failed = (target: DeploymentTarget, credentials: TargetAccess, why: string, now: string): Verdict => ({
  ...released(target, credentials, now),
  phase: 'Failed',
  reason: 'ReclaimFailed',
  message: `what the target stands for could not be freed: ${why}. It is tried again; remove what hangs.`,
  error: `unable to free the resources of DeploymentTarget ${target.metadata.name}: ${why}`,
})

/** After a failure the phase stays. Ready stays only where the target goes on serving its claim; nothing new is promised. */
export function statusAfter(target: DeploymentTarget, failure: Failure, credentials: CredentialsAssessment) {
  const { conditions, observedGeneration: _, ...rest } = target.status ?? {}
  const serves = rest.phase === 'Bound' && isTrue(conditions, 'Ready') && credentials.usable && !isLeaving(target)
  const message = failure.code === 'internal' ? 'unexpected internal error occurred in DT controller' : sentenceOf(failure)
  return {
    ...rest,
    conditions: [
      { type: 'Ready', status: serves ? 'True' : 'False', reason: failure.reason ?? 'ReconcileFailed', message },
      credentialsCondition(credentials),
      { type: 'ErrorOccurred', status: 'True', reason: 'ErrorOccurred', message },
    ] satisfies Statement[],
  }
}
