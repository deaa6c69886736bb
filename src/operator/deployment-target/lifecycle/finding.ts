import {
  type CoreSecret,
  conditionOf,
  type DeploymentTarget,
  type DeploymentTargetStatus,
  type Statement,
} from '../../../api/index.ts'
import { redactUrls } from '../../../std/index.ts'
import type { CredentialsAssessment } from './credentials.ts'

export const REACHABLE = 'Reachable'

/** An answer, or its absence, depends on this, as far as it can be seen from here. It stands in the status, so that a restart asks nobody. */
export type Question = NonNullable<DeploymentTargetStatus['asked']>

export type Answer = Pick<Statement, 'status' | 'reason' | 'message'>

/** The condition about the target's API, and which question it answers. */
export interface ReachabilityFinding {
  answer: Answer
  asked?: Question | undefined
}

export const questionOf = ({ spec }: DeploymentTarget, { metadata }: CoreSecret): Question => {
  const { apiURL, allowInsecureSkipTLSVerify } = spec.kubernetesCredentials
  return {
    apiURL: redactUrls(apiURL),
    secretVersion: `${metadata.uid}/${metadata.resourceVersion}`,
    ...(allowInsecureSkipTLSVerify && { allowInsecureSkipTLSVerify }),
  }
}

export const isSame = (one: Question | undefined, other: Question | undefined): boolean =>
  one?.apiURL === other?.apiURL &&
  one?.secretVersion === other?.secretVersion &&
  (one?.allowInsecureSkipTLSVerify ?? false) === (other?.allowInsecureSkipTLSVerify ?? false)

/** As the status tells it now. */
export function toldFinding({ status }: DeploymentTarget): ReachabilityFinding | undefined {
  const condition = conditionOf(status?.conditions, REACHABLE)
  if (!condition) return undefined
  return { answer: { status: condition.status, reason: condition.reason, message: condition.message }, asked: status?.asked }
}

/** While the answer is under way: what was said of the same address stands, a token that is renewed is no news. */
export function whileAsking(target: DeploymentTarget): ReachabilityFinding {
  const told = toldFinding(target)
  const apiURL = redactUrls(target.spec.kubernetesCredentials.apiURL)
  if (told?.asked?.apiURL === apiURL) return told
  return { answer: { status: 'Unknown', reason: 'Asking', message: `${apiURL} is being asked` } }
}

/** Nobody is asked with credentials that cannot be used. */
export const unasked = ({ reason }: CredentialsAssessment): ReachabilityFinding => ({
  answer: {
    status: 'Unknown',
    reason: 'CredentialsNotUsable',
    message: `the API is not asked while the credentials cannot be used (${reason}); see the condition CredentialsValid`,
  },
})

/** The API server that this very status was written to. */
export const OWN_CLUSTER: ReachabilityFinding = {
  answer: { status: 'True', reason: 'OwnCluster', message: 'the target is in the cluster that Berth itself runs with' },
}
