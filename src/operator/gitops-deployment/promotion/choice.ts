import { conditionOf, type GitOpsDeployment, type GitOpsDeploymentSpec, type Ref, sourceUrl } from '../../../api/index.ts'
import {
  defined,
  durationOf,
  Failure,
  failureReason,
  hours,
  isFailure,
  redactUrls,
  sayFailure,
  timestamp,
} from '../../../std/index.ts'
import { closedWindow, dependencyWaitOf, refuseCycle, type SyncWait, unreadinessOf, waitFor } from '../schedule/sync-wait.ts'
import { type FindOpening, openingAt } from '../schedule/windows.ts'
import { dependenciesOf, followedBy, sameRepository } from '../watch/caches.ts'

export type Promotion = NonNullable<NonNullable<GitOpsDeployment['status']>['promotion']>

/** What a deployment with `spec.source.follow` is to have. */
export interface PromotionChoice {
  /** The commit that is in effect, or is to be. Nothing until there is one. */
  revision: string | undefined
  /** The commit that a run would apply which names none, where it is another one. */
  offered?: string | undefined
  promotion: Promotion
  /** The commit is taken by this look, and not yet written down. */
  isTaken: boolean
  /** Milliseconds until time alone may decide otherwise. */
  recheck: number | undefined
}

interface Rules {
  now: number
  /** Somebody asked for a synchronisation at this very time, whatever the sync windows and the type say. */
  isAsked?: boolean
  /** The commit that was applied last, if only in part and not told yet. */
  tried?: string | undefined
  findOpening?: FindOpening
}

interface Deployments {
  get(ref: Ref): GitOpsDeployment | undefined
}

/**
 * Which commit is taken from the deployment that is followed: the one that is in effect there, once it has been in good health for as long
 * as is asked for. What was taken stays, whatever becomes of the other one. Where there is nothing that could stay, mistakes in the spec are
 * `invalid` failures. Pure.
 */
export function choiceOf(
  deployment: GitOpsDeployment,
  deployments: Deployments,
  { now, isAsked = false, tried, findOpening = openingAt }: Rules,
): PromotionChoice {
  const taken = takenBy(deployment, deployments, tried)
  const stays = taken.revision ?? deployment.status?.sync?.revision
  const { revision, wait } = offerOrMistake(deployment, deployments, { now, isAsked, findOpening, hasOne: stays !== undefined })
  if (revision !== undefined && revision === taken.revision)
    return { revision, promotion: taken, isTaken: false, recheck: undefined }
  const { left } = taken
  if (!wait)
    return { revision, promotion: { ...defined({ revision, left }), at: timestamp(now) }, isTaken: true, recheck: undefined }
  const { until, reason, message } = wait
  return {
    revision: stays,
    offered: reason === OFFERED ? revision : undefined,
    promotion: { ...taken, next: { ...defined({ revision }), reason, message: message.slice(0, 1024) } },
    isTaken: false,
    recheck: until === undefined ? undefined : Math.min(Math.max(until - now, 0), hours(24)),
  }
}

/** A commit of which nothing was applied yet is let go again when the other one has another by now: it may have gone back from it. */
function takenBy(deployment: GitOpsDeployment, deployments: Deployments, tried: string | undefined): Promotion {
  const { status } = deployment
  const { next: _, ...taken } = status?.promotion ?? {}
  const { revision } = taken
  if (revision === undefined || revision === status?.sync?.revision || revision === tried) return taken
  const [ref = { name: '' }] = followedBy(deployment)
  if (deployments.get(ref)?.status?.sync?.revision === revision) return taken
  return defined({ revision: status?.sync?.revision, left: taken.left })
}

/** A manual one takes nothing by itself. */
const OFFERED = 'WaitingForApproval'

/** The commit that is in effect at the other one, and why it is not taken. */
type Offer = { revision: string; wait?: SyncWait | undefined } | { revision: undefined; wait: SyncWait }

type OfferRules = Required<Omit<Rules, 'tried'>>

/** What is in effect is kept so, also where somebody has changed the other one so that this one's spec is mistaken. */
function offerOrMistake(
  deployment: GitOpsDeployment,
  deployments: Deployments,
  { hasOne, ...rules }: OfferRules & { hasOne: boolean },
): Offer {
  try {
    const ways = (one: GitOpsDeployment) => [...followedBy(one), ...dependenciesOf(one)]
    refuseCycle(deployment, deployments, { ways, field: 'spec.source.follow' })
    return offerTo(deployment, deployments, rules)
  } catch (thrown) {
    if (!hasOne || !isFailure(thrown, 'invalid')) throw thrown
    return { revision: undefined, wait: { reason: failureReason(thrown), message: sayFailure(thrown) } }
  }
}

function offerTo(deployment: GitOpsDeployment, deployments: Deployments, rules: OfferRules): Offer {
  const [ref = { name: '' }] = followedBy(deployment)
  const other = deployments.get(ref)
  if (!other) return { revision: undefined, wait: waitFor(ref, 'does not exist') }
  requireSameRepository(deployment, other)
  const { sync, history = [] } = other.status ?? {}
  const { revision } = sync ?? {}
  if (revision === undefined) return { revision, wait: waitFor(ref, 'has no commit in effect yet') }
  const unready = unreadinessOf(other) ?? (history[0]?.revision === revision ? undefined : 'was not in good health with it yet')
  if (unready !== undefined) return { revision, wait: waitFor(ref, unready) }
  const wait =
    (isPast(revision, deployment, other) ? wasInEffect(revision, deployment) : undefined) ??
    tooShort(revision, deployment, other, rules.now) ??
    objectionTo(revision, deployment, rules) ??
    dependencyWaitOf(deployment, revision, deployments)
  return { revision, wait }
}

/** Since when it has been in good health with its present commit and spec, milliseconds since 1970. */
function healthySince({ status }: GitOpsDeployment): number {
  const ready = conditionOf(status?.conditions, 'Ready')
  const times = [ready?.lastTransitionTime, status?.history?.[0]?.at, status?.admitted?.at]
  return Math.max(...times.flatMap((time) => (time === undefined ? [] : [Date.parse(time)])))
}

function tooShort(revision: string, { spec }: GitOpsDeployment, other: GitOpsDeployment, now: number): SyncWait | undefined {
  const healthyFor = spec.source.follow?.healthyFor ?? '0s'
  const since = healthySince(other)
  const until = since + durationOf(healthyFor)
  if (until <= now) return undefined
  const message = `${sayCommit(revision)} has been in good health at ${other.metadata.name} since ${timestamp(since)}, and has to be for ${healthyFor}`
  return { reason: 'HealthyTooShort', message, until }
}

/** Whether it was in effect before, here or there, and another one is since: nobody but a person goes to it again. */
function isPast(revision: string, { status }: GitOpsDeployment, other: GitOpsDeployment): boolean {
  const { promotion, history = [] } = status ?? {}
  if (promotion?.revision === undefined) return false
  const [now, ...before] = other.status?.history ?? []
  const isBack = before.some((entry) => entry.revision === revision && entry.path === now?.path)
  return isBack || promotion.left?.includes(revision) === true || history.some((entry) => entry.revision === revision)
}

const wasInEffect = (revision: string, deployment: GitOpsDeployment): SyncWait => ({
  reason: 'WasInEffect',
  message: `${sayCommit(revision)} was in effect before, and is not taken again by itself; ${promote(deployment)} shows what it would do`,
})

/** Why a commit that is in good health at the other one is not taken by itself. */
function objectionTo(
  revision: string,
  deployment: GitOpsDeployment,
  { now, isAsked, findOpening }: OfferRules,
): SyncWait | undefined {
  if (isAsked) return undefined
  const { type, source, syncWindows } = deployment.spec
  if (type === 'automated') return closedWindow(findOpening(now, syncWindows), revision)
  const message = `${sayCommit(revision)} has been in good health at ${source.follow?.deployment}; ${promote(deployment)} shows what it would do`
  return { reason: OFFERED, message }
}

const sayCommit = (revision: string): string => `commit ${revision.slice(0, 12)}`
const promote = ({ metadata }: GitOpsDeployment): string => `berth promote ${metadata.name} -n ${metadata.namespace}`

function requireSameRepository({ spec: { source } }: GitOpsDeployment, { metadata, spec }: GitOpsDeployment): void {
  const isSame = sameRepository(sourceUrl(source)) === sameRepository(sourceUrl(spec.source))
  if (isSame && source.chart?.name === spec.source.chart?.name) return
  const say = (one: GitOpsDeploymentSpec['source']) =>
    `${redactUrls(sourceUrl(one))}${one.chart ? ` (chart ${one.chart.name})` : ''}`
  const urls = `${say(spec.source)}, not ${say(source)}`
  throw new Failure('invalid', `spec.source.follow.deployment: GitOpsDeployment ${metadata.name} deploys ${urls}`, {
    reason: 'PromotionInvalid',
    remedy: 'Name one that deploys the same repository',
  })
}
