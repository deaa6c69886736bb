import type { Clock, Log } from '../../std/index.ts'
import type { Metrics } from './metrics.ts'
import { type HttpServer, type ServedResponse, serveHttp } from './serve.ts'

/** `undefined` when all is well, otherwise one line that says what is not. */
export type Probe = () => string | undefined

export interface OperationsOptions {
  /** `host:port`; port 0 lets the kernel choose. */
  address: string
  /** Fails only when a restart would help. */
  live: Probe
  /** Fails while the program should get no traffic. */
  ready: Probe
  metrics: Metrics
  clock: Clock
  log: Log
}

/** /livez, /readyz and /metrics: what the kubelet and Prometheus ask every program. Nothing secret is on it; it needs no login. */
export function serveOperations({ address, live, ready, metrics, clock, log }: OperationsOptions): Promise<HttpServer> {
  const read = () => (ready() === undefined ? 1 : 0)
  metrics.gauge({ name: 'berth_ready', help: 'Whether the program is ready for its work: 1, or 0', read })
  return serveHttp({
    address,
    clock,
    log,
    async respond({ method, path }) {
      if (method !== 'GET' && method !== 'HEAD') return { status: 405, text: 'Only GET is served here.\n' }
      if (path === '/livez') return probed(live)
      if (path === '/readyz') return probed(ready)
      if (path === '/metrics') return { status: 200, text: await metrics.render(), contentType: metrics.contentType }
      return { status: 404, text: 'Served here: /livez /readyz /metrics\n' }
    },
  })
}

function probed(probe: Probe): ServedResponse {
  const trouble = probe()
  return trouble === undefined ? { status: 200, text: 'ok\n' } : { status: 503, text: `${trouble}\n` }
}
