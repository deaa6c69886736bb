import { randomBytes } from 'node:crypto'
import { type HrTime, type SpanContext, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace'
import { isCommitId, type Log, LRUCache, pause, type Span, seconds, systemClock, traceIdOf, withoutEnd } from '../../std/index.ts'
import type { OpenTracer, TracerSettings } from './port.ts'

/** A batch is tried again for so long; also the connection may take so long, for which the library has no limit. */
const PATIENCE = seconds(10)
/** A program that ends waits so long for a receiver that does not answer. */
const LAST_PATIENCE = seconds(3)
/** Commits whose root was told: this many, the newest. */
const MOST_ROOTS = 10_000

/**
 * The library sends, in batches, and tries again what was not taken. Headers and certificates are in the variables that OpenTelemetry has for them:
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 * `endpoint` may end with a slash.
 */
export function createOtlpTracer(endpoint: string, { service, version, instance, log }: TracerSettings): OpenTracer {
  const exporter = new OTLPTraceExporter({
    url: `${withoutEnd(endpoint, '/')}/v1/traces`,
    timeoutMillis: PATIENCE,
    httpAgentOptions: { timeout: PATIENCE },
  })
  const processor = new BatchSpanProcessor({
    exporter: withLosses(exporter, { endpoint, log }),
    exportTimeoutMillis: 2 * PATIENCE,
  })
  const own = resourceFromAttributes({
    'service.name': service,
    ...(version !== undefined && { 'service.version': version }),
    ...(instance !== undefined && { 'service.instance.id': instance }),
  })
  const resource = detectResources({ detectors: [envDetector] }).merge(own)
  const roots = new LRUCache<string, true>({ max: MOST_ROOTS })
  const base = { resource, instrumentationScope: { name: 'berth', ...(version !== undefined && { version }) } }

  const send = (span: Span, context: SpanContext, parent: SpanContext | undefined): void => {
    processor.onEnd({ ...base, ...readable(span, context, parent) })
    for (const step of span.steps ?? []) send(step, contextOf(context.traceId), context)
  }
  // An agent has the ids from the network.
  return {
    recordRoot(commitId, span) {
      if (!isCommitId(commitId) || roots.has(commitId)) return
      roots.set(commitId, true)
      send(span, rootOf(commitId), undefined)
    },
    record(commitId, span) {
      if (isCommitId(commitId)) send(span, contextOf(traceIdOf(commitId)), { ...rootOf(commitId), isRemote: true })
    },
    async stop() {
      // The exporter says what is not taken: that is no reason for a program not to end well.
      const sent = processor.shutdown().catch(() => undefined)
      await Promise.race([sent, pause(systemClock, LAST_PATIENCE)])
    },
  }
}

const contextOf = (traceId: string, spanId = randomBytes(8).toString('hex')): SpanContext => ({
  traceId,
  spanId,
  traceFlags: TraceFlags.SAMPLED,
})

/** It follows from the commit, so that every program knows below what its spans stand. */
const rootOf = (commitId: string): SpanContext => contextOf(traceIdOf(commitId), commitId.slice(-16))

function readable(
  { name, began, ended, attributes = {}, error }: Span,
  context: SpanContext,
  parentSpanContext: SpanContext | undefined,
): Omit<ReadableSpan, 'resource' | 'instrumentationScope'> {
  // Clocks are set back.
  const end = Math.max(began, ended)
  return {
    name,
    kind: SpanKind.INTERNAL,
    spanContext: () => context,
    ...(parentSpanContext && { parentSpanContext }),
    startTime: toHrTime(began),
    endTime: toHrTime(end),
    duration: toHrTime(end - began),
    ended: true,
    status: error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
    attributes: error === undefined ? attributes : { ...attributes, 'error.type': error },
    links: [],
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

const toHrTime = (milliseconds: number): HrTime => [Math.floor(milliseconds / 1000), Math.round((milliseconds % 1000) * 1e6)]

/** The same exporter, which says in the log when traces are not taken; and when they are again, how many were lost. */
function withLosses(exporter: SpanExporter, { endpoint, log }: { endpoint: string; log: Log }): SpanExporter {
  let lost = 0
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const { error } = result
        if (error && lost === 0) log.warn('Traces are not taken', { endpoint, error })
        if (!error && lost > 0) log.info('Traces are taken again', { lost })
        lost = error ? lost + spans.length : 0
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  }
}
