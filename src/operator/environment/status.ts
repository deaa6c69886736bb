import {
  type Condition,
  conditionOf,
  type DeploymentTargetClaim,
  type Environment,
  type GitOpsDeploymentManagedEnvironment,
  type Statement,
} from '../../api/index.ts'
import { type StatusDraft, sentenceOf } from '../../engines/controller/index.ts'
import type { Failure } from '../../std/index.ts'
import type { EnvironmentAccess, EnvironmentProblem } from './destination.ts'

/** The condition of a managed environment that says whether its cluster answers. */
const CONNECTED = 'ConnectionInitializationSucceeded'
const RESOLVED = 'Resolved'

/** The Environment has these at the moment; they outlive errors. */
export interface EnvironmentHolding {
  managedEnvironment?: string
  target?: string
}

export const holdingOf = ({ status }: Environment): EnvironmentHolding => ({
  ...(status?.managedEnvironment !== undefined && { managedEnvironment: status.managedEnvironment }),
  ...(status?.target !== undefined && { target: status.target }),
})

/** Something the user has to mend. The pair says it in the words that clients of the seed's builders compare. */
export function wrongStatus({ reason, message, advice }: EnvironmentProblem, holding: EnvironmentHolding): StatusDraft {
  return {
    ...holding,
    conditions: [
      { type: 'ErrorOccurred', status: 'True', reason: 'ErrorOccurred', message },
      { type: 'Reconciled', status: 'False', reason, message },
      notReady(reason, message.includes(advice) ? message : `${message}. ${advice}`),
    ],
  }
}

/** The claim has no target yet, or has it no more. That is no error of the Environment, so the pair is not written for it. */
export function waitingStatus(
  environment: Environment,
  { claim, lost }: { claim: DeploymentTargetClaim; lost: boolean },
  holding: EnvironmentHolding,
): StatusDraft {
  const { name } = claim.metadata
  const why = conditionOf(claim.status?.conditions, 'Ready')?.message
  const detail = why ? `: ${why}` : ''
  const ready = lost
    ? notReady('ClaimLost', `DeploymentTargetClaim ${name} has lost its DeploymentTarget${detail}`)
    : notReady('WaitingForClaim', `waits until DeploymentTargetClaim ${name} is Bound${detail}`)
  // A lost target is no recovery from whatever was wrong before.
  const pair = lost ? pairOf(environment) : recovered(environment)
  return { ...holding, conditions: [...pair, ready] }
}

export function nowhereStatus(environment: Environment): StatusDraft {
  const message =
    'leads to no cluster, so it is deployed to its own namespace. To change that, name a DeploymentTargetClaim in spec.configuration.target.deploymentTargetClaim.claimName'
  return { conditions: [...recovered(environment), { type: 'Ready', status: 'True', reason: 'OwnNamespace', message }] }
}

export function leadingStatus(
  environment: Environment,
  managed: GitOpsDeploymentManagedEnvironment,
  { through, apiURL }: EnvironmentAccess,
): StatusDraft {
  return {
    managedEnvironment: managed.metadata.name,
    ...(through && { target: through.target }),
    conditions: [...recovered(environment), readiness(managed, apiURL)],
  }
}

/** As ready as the cluster behind it, as far as the last check of this very spec knows. */
function readiness({ metadata, status }: GitOpsDeploymentManagedEnvironment, apiURL: string): Statement {
  const verdict = conditionOf(status?.conditions, CONNECTED)
  const isFresh = status?.observedGeneration === metadata.generation
  if (!verdict || !isFresh || verdict.status === 'Unknown') {
    return { type: 'Ready', status: 'Unknown', reason: 'Connecting', message: `the connection to ${apiURL} is being checked` }
  }
  if (verdict.status === 'False') return notReady(verdict.reason, verdict.message)
  return { type: 'Ready', status: 'True', reason: 'Connected', message: `leads to ${apiURL}` }
}

/** The user's mistakes become the pair, everything else leaves the pair as it is. */
export function failedStatus(environment: Environment, failure: Failure): StatusDraft {
  const { code, reason, message, remedy = '' } = failure
  const holding = holdingOf(environment)
  if (code === 'invalid') return wrongStatus({ reason: reason ?? 'InvalidEnvironment', message, advice: remedy }, holding)
  return { ...holding, conditions: [...pairOf(environment), notReady(reason ?? 'ReconcileFailed', sentenceOf(failure))] }
}

/** Upstream's way of saying that all is well again; while nothing ever failed, nothing is said. */
const recovered = (environment: Environment): Statement[] => pairOf(environment).map(resolve)

const pairOf = ({ status }: Environment): Statement[] =>
  ['ErrorOccurred', 'Reconciled'].flatMap((type) => {
    const condition = conditionOf(status?.conditions, type)
    return condition ? [statementOf(condition)] : []
  })

function resolve({ type, reason }: Statement): Statement {
  const status = type === 'Reconciled' ? 'True' : 'False'
  return { type, status, reason: reason.endsWith(RESOLVED) ? reason : reason + RESOLVED, message: '' }
}

const statementOf = ({ type, status, reason, message }: Condition): Statement => ({ type, status, reason, message })

const notReady = (reason: string, message: string): Statement => ({ type: 'Ready', status: 'False', reason, message })
