import type { Metrics } from '../../adapters/http/index.ts'
import type { Meter } from '../../adapters/kube/index.ts'
import type { LeaderMeter } from './leader.ts'
import type { LoopMeter } from './loop.ts'

/** Requests to API servers by verb and answer. */
export function requestMeter(metrics: Metrics): Meter {
  const requests = metrics.counter({
    name: 'berth_api_requests_total',
    help: 'Requests to the Kubernetes API',
    labels: ['verb', 'status'],
  })
  const latency = metrics.histogram({ name: 'berth_api_request_seconds', help: 'Time until the answer began', labels: ['verb'] })
  return ({ verb, status, ms }) => {
    requests.add({ verb, status: String(status) })
    if (verb !== 'watch') latency.observe(ms / 1000, { verb })
  }
}

/** Who leads, under the name that it has in client-go. */
export function leaderMeter(metrics: Metrics): LeaderMeter {
  const status = metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process holds the Lease: 1, or 0',
    labels: ['name'],
  })
  return (lease, isHeld) => status.set(isHeld ? 1 : 0, { name: lease })
}

/** What every controller does: how often, how long, how much waits, what fails. */
export function loopMeter(metrics: Metrics): LoopMeter {
  const reconciles = metrics.counter({
    name: 'berth_reconciles_total',
    help: 'Reconciles by outcome',
    labels: ['controller', 'outcome'],
  })
  const failures = metrics.counter({
    name: 'berth_reconcile_failures_total',
    help: 'Failed reconciles by code',
    labels: ['controller', 'code'],
  })
  const duration = metrics.histogram({ name: 'berth_reconcile_seconds', help: 'Time of one reconcile', labels: ['controller'] })
  const wait = metrics.histogram({
    name: 'berth_queue_wait_seconds',
    help: 'Time between wake-up and reconcile',
    labels: ['controller'],
  })
  /** A new term of leadership brings new queues under the old names. */
  const depths = new Map<string, () => number>()
  return {
    reconciled({ controller, outcome, ms, waited, failure }) {
      reconciles.add({ controller, outcome })
      duration.observe(ms / 1000, { controller })
      wait.observe(waited / 1000, { controller })
      if (failure) failures.add({ controller, code: failure.code })
    },
    depth(controller, read) {
      if (!depths.has(controller)) {
        failures.add({ controller, code: 'internal' }, 0)
        const name = `berth_queue_depth_${controller.replaceAll('-', '_')}`
        metrics.gauge({ name, help: `Keys that wait in the queue of ${controller}`, read: () => depths.get(controller)?.() ?? 0 })
      }
      depths.set(controller, read)
    },
  }
}
