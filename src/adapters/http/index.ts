/**
 * HTTP as a server: the operations listener that every program has (probes and metrics), the listener itself with a graceful
 * end, and the metrics registry. It knows no route of any program beyond /livez, /readyz and /metrics.
 * Read serve.ts first, then operations.ts and metrics.ts.
 */
export { type Counter, createMetrics, type Gauge, type Histogram, type Metrics, type Naming } from './metrics.ts'
export { type OperationsOptions, type Probe, serveOperations } from './operations.ts'
export { type Answer, type HttpServer, type Question, type Responder, type ServeHttpOptions, serveHttp } from './serve.ts'
