import type { Metrics } from '../adapters/http/index.ts'
import type { Meter } from '../adapters/kube/index.ts'
import type { SyncMeter } from '../engines/gitops/index.ts'

/** Requests to the API server by verb and answer. */
export function requestMeter(metrics: Metrics): Meter {
  const requests = metrics.counter({
    name: 'berth_api_requests_total',
    help: 'Requests to the Kubernetes API',
    labels: ['verb', 'status'],
  })
  return ({ verb, status }) => requests.add({ verb, status: String(status) })
}

/** What syncs take, do and find. */
export function syncMeter(metrics: Metrics): SyncMeter {
  const phases = metrics.histogram({
    name: 'berth_gitops_phase_seconds',
    help: 'Time of the steps from a revision to its health',
    labels: ['phase'],
  })
  const objects = metrics.counter({
    name: 'berth_gitops_objects_total',
    help: 'Objects of commits by what was done with them',
    labels: ['outcome'],
  })
  const repairs = metrics.counter({
    name: 'berth_gitops_drift_repairs_total',
    help: 'Objects that had drifted and were set back',
  })
  return {
    took: (phase, milliseconds) => phases.observe(milliseconds / 1000, { phase }),
    did: (outcome, count) => objects.add({ outcome }, count),
    repaired: (count) => repairs.add({}, count),
  }
}
