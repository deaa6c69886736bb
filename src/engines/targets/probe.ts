import { type Kube, type Reach, whyNoAnswer } from '../../adapters/kube/index.ts'
import type { Condition } from '../../api/index.ts'
import { type Failure, within } from '../../std/index.ts'
import { type TargetCredentials, withTarget } from './connect.ts'

export interface ProbeOptions {
  /** Where targets may lead; everywhere without it. */
  reach: Reach | undefined
  /** Milliseconds after which a cluster counts as not answering. */
  patience: number
  signal: AbortSignal
}

/** Asks the API of a target something small. The refusal of its URL names the field only: it is told on the object itself. */
export const askTarget = <T>(
  credentials: TargetCredentials,
  { reach, patience, signal, maxBytes }: ProbeOptions & { maxBytes: number },
  question: (kube: Kube, inTime: AbortSignal) => Promise<T>,
): Promise<T> =>
  withTarget({ ...credentials, subject: { field: credentials.subject.field } }, { reach, timeout: patience, maxBytes }, (kube) =>
    within(patience, signal, (inTime) => question(kube, inTime)),
  )

/** Why the API of a target is of no use. What to do about it depends on the field that names it. */
export interface ProbeTrouble {
  reason: 'TokenRefused' | 'NoAnswer' | 'NoKubernetes'
  message: string
}

/**
 * In our words only. The text of an answer is never shown: the URL may lead to a machine inside the network that the user
 * can't read from otherwise, and a server may echo the token.
 */
export function troubleOf(failure: Failure, apiURL: string, patience: number): ProbeTrouble {
  if (failure.code === 'unauthorized') return { reason: 'TokenRefused', message: `${apiURL} refuses the token` }
  const silence = whyNoAnswer(failure, patience)
  if (silence === undefined) return noKubernetes(apiURL)
  return { reason: 'NoAnswer', message: `${apiURL} does not answer ${silence}` }
}

export const noKubernetes = (apiURL: string): ProbeTrouble => ({
  reason: 'NoKubernetes',
  message: `${apiURL} answers, but not like a Kubernetes API`,
})

export const RENEW_TOKEN = 'Renew users[].user.token in the kubeconfig of the Secret'

const JITTER = 0.2

/** A target that fails is asked again after as long as it has been failing, between these two. */
export function waitAfterFailure(
  told: Condition | undefined,
  now: number,
  { soonest, latest }: { soonest: number; latest: number },
): number {
  const since = told?.status === 'False' ? Date.parse(told.lastTransitionTime) : now
  return Math.min(Math.max(now - since, soonest), latest) * (1 + JITTER * Math.random())
}
