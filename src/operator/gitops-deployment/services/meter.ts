import type { Metrics } from '../../../adapters/http/index.ts'
import { type SyncMeter, syncMeter } from '../../../engines/gitops/index.ts'

export interface GitOpsMeter extends SyncMeter {
  /** How many watches are open, asked for now and then. */
  watches(read: () => number): void
}

export function gitopsMeter(metrics: Metrics): GitOpsMeter {
  let open = () => 0
  metrics.gauge({ name: 'berth_gitops_open_watches', help: 'Watches on deployed objects that are open', read: () => open() })
  return {
    ...syncMeter(metrics),
    // A new term of leadership brings new ones.
    watches(read) {
      open = read
    },
  }
}
