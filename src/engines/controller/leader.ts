import type { Kube } from '../../adapters/kube/index.ts'
import { type Kind, type KubeObject, keyOf, labels, type Ref } from '../../api/index.ts'
import { type Clock, Failure, isFailure, type Log, pause, seconds } from '../../std/index.ts'

interface LeaseSpec {
  holderIdentity?: string
  leaseDurationSeconds?: number
  acquireTime?: string
  renewTime?: string
  leaseTransitions?: number
}
interface Lease extends KubeObject {
  spec?: LeaseSpec
}
const LeaseKind: Kind<Lease> = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', namespaced: true }

interface Times {
  /** Milliseconds; client-go's defaults. */
  duration?: number
  renewWithin?: number
  retry?: number
}

export interface Candidate extends Times {
  kube: Kube
  clock: Clock
  log: Log
  lease: Ref & { namespace: string }
  /** Unique per process. */
  identity: string
  /** Of the program, for a label of the Lease. */
  version?: string | undefined
  meter?: LeaderMeter | undefined
}

/** Told when a Lease, by its name, is held, and when no more. */
export type LeaderMeter = (lease: string, isHeld: boolean) => void

/**
 * Leads while it holds the Lease: `lead` runs with a signal that aborts when the Lease is lost, and runs again when it
 * is won back. Ends when `signal` aborts, giving the Lease up so that the next one need not wait for its end.
 */
export async function leadInTurns(
  candidate: Candidate,
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, lease, meter, retry = seconds(2) } = candidate
  const observed: Observation = { record: '', at: 0, until: 0 }
  let isUnclear = false
  meter?.(lease.name, false)
  while (!signal.aborted) {
    const held = await tryToHold(candidate, observed)
    isUnclear = held === undefined
    if (!held) {
      await pause(clock, retry * (1 + Math.random() * 0.2), signal)
      continue
    }
    log.info('leading', { lease: keyOf(lease) })
    meter?.(lease.name, true)
    const lost = new AbortController()
    const work = lead(AbortSignal.any([signal, lost.signal])).finally(() => lost.abort())
    await holdOn(candidate, observed, AbortSignal.any([signal, lost.signal]))
    lost.abort()
    meter?.(lease.name, false)
    await work
    if (signal.aborted) await giveUp(candidate)
    else log.warn('no longer leading', { lease: keyOf(lease) })
  }
  // The last request had no answer, and may have been heard all the same.
  if (isUnclear) await giveUp(candidate)
}

/** What this process knows of the Lease, by its own clock: other machines' clocks are not compared. */
interface Observation {
  record: string
  /** When the record was seen to change. */
  at: number
  /** As it was written here last. */
  own?: Lease | undefined
  /** Until when it is held, if nothing more is heard of it. */
  until: number
}

/** Renews until it can't in time, or until the signal aborts. */
async function holdOn(candidate: Candidate, observed: Observation, signal: AbortSignal): Promise<void> {
  const { clock, retry = seconds(2) } = candidate
  while (!signal.aborted) {
    await pause(clock, retry, signal)
    const left = observed.until - clock.now()
    if (signal.aborted || left <= 0) return
    const late = new AbortController()
    const lateness = pause(clock, left, AbortSignal.any([signal, late.signal]))
    // A request that hangs longer than the Lease lasts must not keep two leading.
    const held = await Promise.race([tryToHold(candidate, observed), lateness.then(() => undefined)])
    late.abort()
    if (held === false) return
  }
}

/**
 * Until when a Lease is held that was written by a request sent and answered then. Others count from when they see it, which is
 * not before it was sent: a slow answer is no reason to stop sooner.
 */
export const lastsUntil = (
  { duration = seconds(15), renewWithin = seconds(10), retry = seconds(2) }: Times,
  { sent, answered }: { sent: number; answered: number },
): number => Math.min(answered + renewWithin, sent + duration - retry)

/** true: held; false: somebody else's; undefined: nobody knows (the API did not answer). */
async function tryToHold(candidate: Candidate, observed: Observation): Promise<boolean | undefined> {
  const { lease, log } = candidate
  try {
    return (await renew(candidate, observed)) || (await take(candidate, observed))
  } catch (thrown) {
    // Somebody wrote at the same moment: perhaps another, perhaps an earlier try of our own.
    if (!isFailure(thrown, 'conflict', 'already-exists'))
      log.info('lease not renewed', { lease: keyOf(lease), failure: Failure.from(thrown) })
    return undefined
  }
}

/** One request, bound to what was written last: where an answer takes seconds, a look before it would cost the Lease. */
async function renew(candidate: Candidate, observed: Observation): Promise<boolean> {
  const { own } = observed
  if (!own) return false
  try {
    await write(candidate, observed, own)
    return true
  } catch (thrown) {
    if (!isFailure(thrown, 'conflict', 'not-found')) throw thrown
    // Somebody else wrote, or the answer to our own write was lost: a look will tell.
    observed.own = undefined
    return false
  }
}

async function take(candidate: Candidate, observed: Observation): Promise<boolean> {
  const { kube, clock, lease, identity, duration = seconds(15), renewWithin = seconds(10) } = candidate
  const found = await kube.get(LeaseKind, lease, AbortSignal.timeout(renewWithin))
  const sent = clock.now()
  if (!found) {
    const apiVersion = 'coordination.k8s.io/v1'
    const metadata = { ...lease, ...labelled(candidate) }
    const made = await kube.create(LeaseKind, { apiVersion, kind: 'Lease', metadata, spec: renewal(candidate, {}) })
    note(candidate, observed, made, sent)
    return true
  }
  const spec = found.spec ?? {}
  const record = `${spec.holderIdentity} ${spec.renewTime}`
  if (observed.record !== record) Object.assign(observed, { record, at: clock.now() })
  const free = !spec.holderIdentity || clock.now() - observed.at > (spec.leaseDurationSeconds ?? duration / 1000) * 1000
  if (spec.holderIdentity !== identity && !free) return false
  await write(candidate, observed, found)
  return true
}

/** Only on top of this very version. */
async function write(candidate: Candidate, observed: Observation, { metadata, spec = {} }: Lease): Promise<void> {
  const { kube, clock, lease } = candidate
  const sent = clock.now()
  const { resourceVersion } = metadata
  const patch = { metadata: { resourceVersion, ...labelled(candidate) }, spec: renewal(candidate, spec) }
  note(candidate, observed, await kube.patch(LeaseKind, lease, patch), sent)
}

function note(candidate: Candidate, observed: Observation, own: Lease, sent: number): void {
  Object.assign(observed, { own, until: lastsUntil(candidate, { sent, answered: candidate.clock.now() }) })
}

const labelled = ({ version }: Candidate) => (version === undefined ? {} : { labels: { [labels.version]: version } })

function renewal({ clock, identity, duration = seconds(15) }: Candidate, before: LeaseSpec): LeaseSpec {
  const now = new Date(clock.now()).toISOString().replace('Z', '000Z')
  const mine = before.holderIdentity === identity
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.max(1, Math.round(duration / 1000)),
    renewTime: now,
    acquireTime: mine && before.acquireTime ? before.acquireTime : now,
    leaseTransitions: (before.leaseTransitions ?? 0) + (mine || !before.holderIdentity ? 0 : 1),
  }
}

/** A renewal may still be on its way: then it is tried once more on top of that. */
async function giveUp(candidate: Candidate, isAgain = false): Promise<void> {
  const { kube, lease, identity, log } = candidate
  try {
    const found = await kube.get(LeaseKind, lease)
    if (found?.spec?.holderIdentity !== identity) return
    const { resourceVersion } = found.metadata
    await kube.patch(LeaseKind, lease, { metadata: { resourceVersion }, spec: { holderIdentity: '', leaseDurationSeconds: 1 } })
  } catch (thrown) {
    if (isFailure(thrown, 'conflict') && !isAgain) return giveUp(candidate, true)
    log.info('lease not given up', { lease: keyOf(lease), failure: Failure.from(thrown) })
  }
}
