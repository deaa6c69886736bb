import { conditionOf, type GitOpsDeployment, type Ref } from '../../../api/index.ts'
import { defined, durationOf, Failure, hours, redactUrls, timestamp } from '../../../std/index.ts'
import { closedWindow, refuseCycle, type SyncWait, unreadinessOf, waitFor } from '../schedule/sync-wait.ts'
import { type FindOpening, openingAt } from '../schedule/windows.ts'
import { followedBy, sameRepository } from '../watch/caches.ts'

export type Promotion = NonNullable<NonNullable<GitOpsDeployment['status']>['promotion']>

/** What a deployment with `spec.source.follow` is to have. */
export interface PromotionChoice {
  /** The commit that is to be in effect; of a manual one that which a run would apply. Nothing until there is one. */
  revision: string | undefined
  promotion: Promotion
  /** The commit is taken by this look, and not yet written down. */
  isTaken: boolean
  /** Milliseconds until time alone may decide otherwise. */
  recheck: number | undefined
}

interface Rules {
  now: number
  /** Somebody asked for a synchronisation at this very time, whatever the sync windows say. */
  isAsked?: boolean
  findOpening?: FindOpening
}

/**
 * Which commit is taken from the deployment that is followed: the one that is in effect there, once it has been in good health for as long
 * as is asked for. What was taken stays, whatever becomes of the other one. Mistakes in the spec are `invalid` failures. Pure.
 */
export function choiceOf(
  deployment: GitOpsDeployment,
  deployments: { get(ref: Ref): GitOpsDeployment | undefined },
  { now, isAsked = false, findOpening = openingAt }: Rules,
): PromotionChoice {
  refuseCycle(deployment, deployments, { ways: followedBy, field: 'spec.source.follow' })
  const { next: _, ...taken } = deployment.status?.promotion ?? {}
  const stays = taken.revision ?? deployment.status?.sync?.revision
  const { revision, wait } = offerTo(deployment, deployments, { now, isAsked, findOpening })
  if (revision !== undefined && revision === taken.revision)
    return { revision, promotion: taken, isTaken: false, recheck: undefined }
  if (!wait) return { revision, promotion: { ...defined({ revision }), at: timestamp(now) }, isTaken: true, recheck: undefined }
  const { until, reason, message } = wait
  return {
    revision: reason === OFFERED ? revision : stays,
    promotion: { ...taken, next: { ...defined({ revision }), reason, message: message.slice(0, 1024) } },
    isTaken: false,
    recheck: until === undefined ? undefined : Math.min(Math.max(until - now, 0), hours(24)),
  }
}

/** A manual one takes nothing by itself. */
const OFFERED = 'WaitingForApproval'

/** The commit that is in effect at the other one, and why it is not taken. */
type Offer = { revision: string; wait?: SyncWait | undefined } | { revision: undefined; wait: SyncWait }

function offerTo(
  deployment: GitOpsDeployment,
  deployments: { get(ref: Ref): GitOpsDeployment | undefined },
  rules: Required<Rules>,
): Offer {
  const [ref = { name: '' }] = followedBy(deployment)
  const other = deployments.get(ref)
  if (!other) return { revision: undefined, wait: waitFor(ref, 'does not exist') }
  requireSameRepository(deployment, other)
  const { sync, history = [] } = other.status ?? {}
  const { revision } = sync ?? {}
  if (revision === undefined) return { revision, wait: waitFor(ref, 'has no commit in effect yet') }
  const unready = unreadinessOf(other) ?? (history[0]?.revision === revision ? undefined : 'was not in good health with it yet')
  if (unready !== undefined) return { revision, wait: waitFor(ref, unready) }
  return { revision, wait: objectionTo(revision, deployment, healthySince(other), rules) }
}

/** Since when it has been in good health with its present commit, milliseconds since 1970. */
function healthySince({ status }: GitOpsDeployment): number {
  const ready = conditionOf(status?.conditions, 'Ready')
  return Math.max(Date.parse(ready?.lastTransitionTime ?? ''), Date.parse(status?.history?.[0]?.at ?? ''))
}

/** Why a commit that is in good health at the other one is not taken. */
function objectionTo(
  revision: string,
  deployment: GitOpsDeployment,
  since: number,
  { now, isAsked, findOpening }: Required<Rules>,
): SyncWait | undefined {
  const { metadata, spec, status } = deployment
  const { deployment: other = '', healthyFor = '0s' } = spec.source.follow ?? {}
  const commit = `commit ${revision.slice(0, 12)}`
  const until = since + durationOf(healthyFor)
  if (!(until <= now)) {
    const message = `${commit} has been in good health at ${other} since ${timestamp(since)}, and has to be for ${healthyFor}`
    return { reason: 'HealthyTooShort', message, until }
  }
  const promote = `berth promote ${metadata.name} -n ${metadata.namespace}`
  // Somebody went back from it, here or there: nobody but a person goes to it again.
  if (status?.promotion?.revision !== undefined && status.history?.some((entry) => entry.revision === revision))
    return {
      reason: 'WasInEffect',
      message: `${commit} was in effect here before; if it is to be again, write ${promote} --approve`,
    }
  if (spec.type === 'manual')
    return { reason: OFFERED, message: `${commit} has been in good health at ${other}; ${promote} shows what it would do` }
  return isAsked ? undefined : closedWindow(findOpening(now, spec.syncWindows), revision)
}

function requireSameRepository({ spec: { source } }: GitOpsDeployment, { metadata, spec }: GitOpsDeployment): void {
  if (sameRepository(source.repoURL) === sameRepository(spec.source.repoURL)) return
  const urls = `${redactUrls(spec.source.repoURL)}, not ${redactUrls(source.repoURL)}`
  throw new Failure('invalid', `spec.source.follow.deployment: GitOpsDeployment ${metadata.name} deploys ${urls}`, {
    reason: 'PromotionInvalid',
    remedy: 'Name one that deploys the same repository',
  })
}
