import type { Metrics } from '../../adapters/http/index.ts'
import type { Meter } from '../../adapters/kube/index.ts'

/** Requests to where workspaces run. */
export function targetMeter(metrics: Metrics): Meter {
  const labels = ['verb', 'status']
  const requests = metrics.counter({ name: 'berth_target_requests_total', help: 'Requests to targets of workspaces', labels })
  return ({ verb, status }) => requests.add({ verb, status: String(status) })
}
