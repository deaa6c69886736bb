import type { Kube } from '../../adapters/kube/index.ts'
import { type Kind, type KubeObject, keyOf, type Ref } from '../../api/index.ts'
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

export interface Candidate {
  kube: Kube
  clock: Clock
  log: Log
  lease: Ref & { namespace: string }
  /** Unique per process. */
  identity: string
  /** Milliseconds; client-go's defaults. */
  duration?: number
  renewWithin?: number
  retry?: number
}

/**
 * Leads while it holds the Lease: `lead` runs with a signal that aborts when the Lease is lost, and runs again when it
 * is won back. Ends when `signal` aborts, giving the Lease up so that the next one need not wait for its end.
 */
export async function leadInTurns(
  candidate: Candidate,
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, lease, retry = seconds(2) } = candidate
  const observed: Observation = { record: '', at: 0 }
  while (!signal.aborted) {
    const held = await tryToHold(candidate, observed)
    if (!held) {
      await pause(clock, retry * (1 + Math.random() * 0.2), signal)
      continue
    }
    log.info('leading', { lease: keyOf(lease) })
    const lost = new AbortController()
    const work = lead(AbortSignal.any([signal, lost.signal])).finally(() => lost.abort())
    await holdOn(candidate, observed, AbortSignal.any([signal, lost.signal]))
    lost.abort()
    await work
    if (signal.aborted) await giveUp(candidate)
    else log.warn('no longer leading', { lease: keyOf(lease) })
  }
}

/** When this process last saw the record change, by its own clock: other machines' clocks are not compared. */
interface Observation {
  record: string
  at: number
}

/** Renews until it can't for `renewWithin`, or until the signal aborts. */
async function holdOn(candidate: Candidate, observed: Observation, signal: AbortSignal): Promise<void> {
  const { clock, renewWithin = seconds(10), retry = seconds(2) } = candidate
  let renewed = clock.now()
  while (!signal.aborted && clock.now() - renewed < renewWithin) {
    await pause(clock, retry, signal)
    if (signal.aborted) return
    const late = new AbortController()
    const lateness = pause(clock, renewed + renewWithin - clock.now(), AbortSignal.any([signal, late.signal]))
    // A request that hangs longer than the Lease lasts must not keep two leading.
    const held = await Promise.race([tryToHold(candidate, observed), lateness.then(() => undefined)])
    late.abort()
    if (held) renewed = clock.now()
    else if (held === false) return
  }
}

/** true: held; false: somebody else's; undefined: nobody knows (the API did not answer). */
async function tryToHold(candidate: Candidate, observed: Observation): Promise<boolean | undefined> {
  const { kube, clock, lease, identity, duration = seconds(15), log, renewWithin = seconds(10) } = candidate
  try {
    const found = await kube.get(LeaseKind, lease, AbortSignal.timeout(renewWithin / 2))
    if (!found) {
      await kube.create(LeaseKind, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: lease,
        spec: renewal(candidate, {}),
      })
      return true
    }
    const spec = found.spec ?? {}
    const record = `${spec.holderIdentity} ${spec.renewTime}`
    if (observed.record !== record) Object.assign(observed, { record, at: clock.now() })
    const free = !spec.holderIdentity || clock.now() - observed.at > (spec.leaseDurationSeconds ?? duration / 1000) * 1000
    if (spec.holderIdentity !== identity && !free) return false
    await kube.patch(LeaseKind, lease, {
      metadata: { resourceVersion: found.metadata.resourceVersion },
      spec: renewal(candidate, spec),
    })
    return true
  } catch (thrown) {
    if (isFailure(thrown, 'conflict', 'already-exists')) return false
    log.info('lease not renewed', { lease: keyOf(lease), failure: Failure.from(thrown) })
    return undefined
  }
}

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

async function giveUp({ kube, lease, identity, log }: Candidate): Promise<void> {
  try {
    const found = await kube.get(LeaseKind, lease)
    if (found?.spec?.holderIdentity !== identity) return
    const { resourceVersion } = found.metadata
    await kube.patch(LeaseKind, lease, { metadata: { resourceVersion }, spec: { holderIdentity: '', leaseDurationSeconds: 1 } })
  } catch (thrown) {
    log.info('lease not given up', { lease: keyOf(lease), failure: Failure.from(thrown) })
  }
}
