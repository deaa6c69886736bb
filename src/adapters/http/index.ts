/**
 * HTTP, mostly as a server: the operations listener that every program has (probes and metrics), the listener itself with a graceful
 * end, requests and answers as streams, the metrics registry, letters to hosts that strangers chose, and the way of browsers to
 * servers behind a proxy (serve-web.ts, forward.ts, upgrade.ts). It knows no route of any program beyond /livez, /readyz and
 * /metrics. Read serve.ts first, then operations.ts, metrics.ts and send.ts.
 */
export { createForwarder, type Forwarder, HOP_BY_HOP, type Upstream } from './forward.ts'
export { type Counter, createMetrics, type Gauge, type Metrics, type Naming } from './metrics.ts'
export { type Probe, serveOperations } from './operations.ts'
export { createReader, createSender, type FetchedPage, type Letter, type ReadPage, type Receipt, type Send } from './send.ts'
export {
  type HttpServer,
  type Responder,
  readBody,
  type ServedRequest,
  type ServedResponse,
  type ServeHttpOptions,
  serveHttp,
} from './serve.ts'
export { serveVisits, type Visit } from './serve-visits.ts'
export { serveWeb } from './serve-web.ts'
export { passUpgrade, type UpgradedConnection } from './upgrade.ts'
export type { FlatHeaders, WebRequest, WebResponse, WebUpgrade } from './web.ts'
