import type { Deployment } from '../../../api/index.ts'
import { statementOf } from './deployment.ts'
import { type Evidence, timeOf } from './evidence.ts'
import { matchOf, type Patterns, type Symptom } from './symptom.ts'
import { GRACE } from './wait-limits.ts'

/** Answers of the API server to controllers that make pods; the first that fits counts. */
const REFUSALS: Patterns = [
  [/exceeded quota/i, 'QuotaExceeded'],
  [/failed quota/i, 'QuotaNeedsResources'],
  [/because it is being terminated|namespace \S+ is terminating/i, 'NamespaceTerminating'],
  [/failed calling webhook|failed to call webhook/i, 'WebhookUnavailable'],
  [/violates PodSecurity/i, 'PodSecurityViolated'],
  [/(maximum|minimum) \S+ usage per|limit to request ratio/i, 'LimitRangeViolated'],
  [/error looking up service account|serviceaccount "[^"]*" not found/i, 'ServiceAccountMissing'],
  [/RuntimeClass "[^"]*" not found/i, 'RuntimeClassMissing'],
  [/no PriorityClass with name/i, 'PriorityClassMissing'],
  [/denied the request|ValidatingAdmissionPolicy|security context constraint/i, 'PolicyDenied'],
  [/is invalid:/i, 'PodInvalid'],
]

/** Why there is no pod. */
export function refused(deployment: Deployment): Symptom | undefined {
  const refusal = statementOf(deployment, 'ReplicaFailure')
  if (refusal?.status !== 'True') return undefined
  const where = `Deployment ${deployment.metadata.name}`
  const said = refusal.message ?? 'the pod was refused'
  return { reason: matchOf(REFUSALS, said) ?? 'PodRefused', where, said, since: timeOf(refusal.lastTransitionTime) }
}

/** The controllers of the target look at a Deployment within moments. */
export function unseen(deployment: Deployment, { now, before }: Evidence): Symptom | undefined {
  const { creationTimestamp, generation = 0, name } = deployment.metadata
  const { observedGeneration } = deployment.status ?? {}
  const since = (observedGeneration === undefined ? timeOf(creationTimestamp) : unseenSince(before)) ?? now
  if (now - since < GRACE) return undefined
  const said = `its status speaks of generation ${observedGeneration ?? 0}, its spec is of ${generation}`
  return { reason: 'ControllerSilent', where: `Deployment ${name}`, said, since }
}

/** A change of the spec has no time of its own: it was made when the step began that only it can have begun. */
function unseenSince(before: Evidence['before']): number | undefined {
  const other = before?.failure ?? before?.waiting
  const isOurs = other === undefined || other.reason === 'ControllerSilent'
  return isOurs && before?.step?.name === 'Admission' ? timeOf(before.step.since) : undefined
}
