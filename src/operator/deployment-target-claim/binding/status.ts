import {
  conditionOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  type DeploymentTargetClaimStatus,
  isDeleting,
  isKept,
  isTrue,
  type Statement,
} from '../../../api/index.ts'
import { type Failure, sayFailure } from '../../../std/index.ts'
import { shortOf } from './match.ts'

const RESOURCES = 'ResourcesSatisfied'

type Phase = NonNullable<DeploymentTargetClaimStatus['phase']>

/** The status of the claim: one reason and one sentence, with the remedy where the user has to act. */
export interface BindingVerdict {
  phase: Phase
  reason: string
  message: string
  /** The user has to act: `ErrorOccurred` turns True with this text. */
  error?: string
  /** No error, but it may wait for long: an Event tells it, as it does of errors. */
  event?: 'Normal' | 'Warning' | undefined
  target?: { name: string; uid?: string }
  /** Milliseconds after which it may be another, though nothing that is watched has changed. */
  recheck?: number | undefined
}

export function statusOf(verdict: BindingVerdict, more: Statement[] = []) {
  const { phase, reason, message, error, target } = verdict
  const ready: Statement = { type: 'Ready', status: phase === 'Bound' ? 'True' : 'False', reason, message }
  return { phase, ...(target && { target }), conditions: [ready, errorCondition(error), ...more] }
}

/** Upstream's pair of values; a message without error is empty there, and clients compare it. */
const errorCondition = (error: string | undefined): Statement =>
  error === undefined
    ? { type: 'ErrorOccurred', status: 'False', reason: 'Success', message: '' }
    : { type: 'ErrorOccurred', status: 'True', reason: 'ErrorOccurred', message: error }

const targetRef = ({ metadata }: DeploymentTarget) => ({
  name: metadata.name,
  ...(metadata.uid !== undefined && { uid: metadata.uid }),
})

export const bound = (target: DeploymentTarget): BindingVerdict => ({
  phase: 'Bound',
  reason: isDeleting(target) ? 'TargetTerminating' : 'Bound',
  message: outlookOf(target),
  target: targetRef(target),
})

function outlookOf(target: DeploymentTarget): string {
  const { name } = target.metadata
  if (isKept(target)) return `somebody deleted DeploymentTarget ${name}; it goes when this claim is gone`
  return isDeleting(target)
    ? `DeploymentTarget ${name} is being deleted; the claim will be Lost`
    : `has DeploymentTarget ${name}, which leads to ${placeOf(target)}`
}

/** A namespace that was made for the claim has a name that nobody chose. */
export function placeOf({ spec: { kubernetesCredentials } }: DeploymentTarget): string {
  const { defaultNamespace, apiURL } = kubernetesCredentials
  return defaultNamespace ? `namespace ${defaultNamespace}` : apiURL
}

export const lost = (claim: DeploymentTargetClaim, why: string): BindingVerdict => {
  const { name, namespace } = claim.metadata
  const error = `failed to process bound DeploymentTargetClaim: DeploymentTarget not found for a bounded DeploymentTargetClaim ${name} in namespace ${namespace}`
  return {
    phase: 'Lost',
    reason: 'TargetLost',
    message: `${why}. Delete and create the claim again, or bring a DeploymentTarget "${claim.spec.targetName}" back.`,
    error,
    ...(claim.status?.target && { target: claim.status.target }),
  }
}

export const pending = (reason: string, message: string, error?: string): BindingVerdict => ({
  phase: 'Pending',
  reason,
  message,
  ...(error !== undefined && { error }),
})

export const missingTarget = (name: string): BindingVerdict => ({
  ...pending(
    'TargetNotFound',
    `waiting for DeploymentTarget "${name}" to be created in this namespace. Create it, or make a claim that names another in spec.targetName, or none.`,
  ),
  event: 'Warning',
})

export const missingClass = ({ metadata, spec }: DeploymentTargetClaim): BindingVerdict => {
  const name = spec.deploymentTargetClassName
  const error = `unable to handle provisioning of SpaceRequest: DeploymentTargetClaim ${metadata.name} does not have a matching DeploymentTargetClass ${name}: the resource could not be found on the cluster`
  return pending(
    'ClassNotFound',
    `there is no DeploymentTargetClass "${name}". Create it, or name another one in spec.deploymentTargetClassName.`,
    error,
  )
}

export const doesNotMatch = (claim: DeploymentTargetClaim, target: DeploymentTarget, reason: string): BindingVerdict => {
  const { name, namespace } = claim.metadata
  const text = `DeploymentTarget ${target.metadata.name} does not match DeploymentTargetClaim ${name} in namespace ${namespace}: ${reason}`
  return pending(
    'TargetDoesNotMatch',
    `${text}. Change spec.targetName, or the target.`,
    `DeploymentTarget does not match the specified DeploymentTargetClaim: ${text}`,
  )
}

export const alreadyClaimed = (target: DeploymentTarget, holder: string): BindingVerdict =>
  pending(
    'TargetClaimed',
    `DeploymentTarget ${target.metadata.name} belongs to DeploymentTargetClaim ${holder}. Name another one in spec.targetName, or leave it empty.`,
    'DeploymentTargetClaim wants to claim a DeploymentTarget that is already claimed',
  )

/**
 * A bound claim that asks for more than its target has: whether that can happen is the class's word. Conditions that are
 * not stated stay, so one that was stated once is stated on.
 */
export function resourcesCondition(claim: DeploymentTargetClaim, target: DeploymentTarget, mayGrow: boolean): Statement[] {
  const { requests = {} } = claim.spec.resources ?? {}
  if (Object.keys(requests).length === 0) return resourcesOf(claim, 'True', 'NothingRequested', 'the claim requests nothing')
  const short = shortOf(claim, target)
  if (!short) return [{ type: RESOURCES, status: 'True', reason: 'Satisfied', message: 'the target has what the claim requests' }]
  const message = mayGrow
    ? `waiting for the provisioner to give DeploymentTarget ${target.metadata.name} more ${short}`
    : `DeploymentTarget ${target.metadata.name} has less ${short} than requested, and its class does not allow expansion. Make a new claim with these requests.`
  return [{ type: RESOURCES, status: 'False', reason: mayGrow ? 'Expanding' : 'ExpansionNotAllowed', message }]
}

/** Without a target nothing is known of its resources. */
export const noResources = (claim: DeploymentTargetClaim): Statement[] =>
  resourcesOf(claim, 'Unknown', 'NoTarget', 'the claim has no DeploymentTarget')

const resourcesOf = (claim: DeploymentTargetClaim, status: Statement['status'], reason: string, message: string): Statement[] =>
  conditionOf(claim.status?.conditions, RESOURCES) ? [{ type: RESOURCES, status, reason, message }] : []

/** After a failure the phase stays; only the error is said. */
export function statusAfter(claim: DeploymentTargetClaim, failure: Failure) {
  const { phase = 'Pending', target, conditions } = claim.status ?? {}
  const message = failure.code === 'internal' ? 'unexpected internal error occurred in DTC controller' : sayFailure(failure)
  const ready: Statement = {
    type: 'Ready',
    status: phase === 'Bound' && isTrue(conditions, 'Ready') ? 'True' : 'False',
    reason: failure.reason ?? 'ReconcileFailed',
    message,
  }
  return { phase, ...(target && { target }), conditions: [ready, errorCondition(message)] }
}
