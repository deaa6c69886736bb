/**
 * Sends traces to whatever takes OTLP over HTTP. What a trace is, and why its id is that of a commit, stands in std/trace.ts. The library is
 * loaded where traces are wanted and nowhere else (otlp.ts): most programs never need it. It sends in batches, and what a receiver does not take
 * is said once in the log and never holds anybody up.
 */
export { openTracer } from './open.ts'
export type { OpenTracer } from './port.ts'
