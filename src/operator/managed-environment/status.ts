import { conditionOf, type GitOpsDeploymentManagedEnvironment, type Statement } from '../../api/index.ts'
import type { StatusDraft } from '../../engines/controller/index.ts'
import { type Failure, hours, sayFailure, timestamp } from '../../std/index.ts'

type Status = GitOpsDeploymentManagedEnvironment['status']

/** The result of a check. */
export interface Verdict {
  connected: boolean
  reason: string
  message: string
  serverVersion?: string | undefined
  /** The cluster was asked, so the answer may be another one soon without anything changing here. */
  asked: boolean
}

const CONNECTED = 'ConnectionInitializationSucceeded'

/** A time that moved with every check would cost a write each few minutes for nothing; so it is exact to the hour. */
const STAMP = hours(1)

export const connectionOf = (status: Status) => conditionOf(status?.conditions, CONNECTED)

/** Upstream leaves the message empty when all is well; `Ready` is the one for people. */
export const connected = (apiURL: string, serverVersion: string | undefined): Verdict => ({
  connected: true,
  reason: 'Succeeded',
  message: `${apiURL} answers`,
  serverVersion,
  asked: true,
})

export const refused = (failure: Failure, asked: boolean): Verdict => ({
  connected: false,
  reason: failure.reason ?? 'UnknownError',
  message: sayFailure(failure),
  asked,
})

export const isNews = ({ connected: is, reason }: Verdict, before: Status): boolean => {
  const said = connectionOf(before)
  return said?.reason !== reason || (said.status === 'True') !== is
}

export function statusOf(verdict: Verdict, before: Status, now: number): StatusDraft {
  const { reason, message } = verdict
  const status = verdict.connected ? 'True' : 'False'
  const serverVersion = verdict.serverVersion ?? before?.serverVersion
  const { lastCheckTime } = before ?? {}
  const isOld = lastCheckTime === undefined || now - Date.parse(lastCheckTime) >= STAMP
  return {
    ...(serverVersion !== undefined && { serverVersion }),
    lastCheckTime: isOld || isNews(verdict, before) ? timestamp(now) : lastCheckTime,
    conditions: [
      { type: CONNECTED, status, reason, message: verdict.connected ? '' : message },
      { type: 'Ready', status, reason, message },
    ],
  }
}

/** Our own API server did not let us find out. */
export function undecided(before: Status): StatusDraft {
  const message = 'the check could not be made; it is tried again by itself'
  const statement = (type: string): Statement => ({ type, status: 'Unknown', reason: 'KubernetesError', message })
  return { ...before, conditions: [statement(CONNECTED), statement('Ready')] }
}
