import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '../../src/std/listen.ts'

/** As OTLP has it in JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
interface OtlpSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: OtlpAttribute[]
  status: { code: number; message?: string }
}

interface OtlpAttribute {
  key: string
  value: { stringValue?: string; intValue?: number }
}

interface Batch {
  resourceSpans: { resource: { attributes: OtlpAttribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[]
}

export interface ReceivedSpan {
  service: unknown
  trace: string
  id: string
  parent: string | undefined
  name: string
  /** Milliseconds since 1970. */
  began: number
  ended: number
  attributes: Record<string, unknown>
  /** What went wrong. */
  error: string | undefined
}

/** Takes traces as a collector does. */
export async function otlpReceiver() {
  const spans: ReceivedSpan[] = []
  const requests: { path: string | undefined; headers: IncomingHttpHeaders }[] = []
  let answer = 200
  const server = createServer(async (request, response) => {
    requests.push({ path: request.url, headers: request.headers })
    const body = await text(request)
    if (answer === 200) spans.push(...spansIn(JSON.parse(body)))
    response.writeHead(answer, { 'content-type': 'application/json' }).end('{}')
  })
  const port = await listen(server, '127.0.0.1', 0)
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    requests,
    /** From now on. */
    answer(status: number) {
      answer = status
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const spansIn = ({ resourceSpans }: Batch): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const { 'service.name': service } = recordOf(resource.attributes)
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ service, ...received(span) })))
  })

const received = (span: OtlpSpan): Omit<ReceivedSpan, 'service'> => ({
  ...{ trace: span.traceId, id: span.spanId, parent: span.parentSpanId || undefined, name: span.name },
  began: Number(span.startTimeUnixNano) / 1e6,
  ended: Number(span.endTimeUnixNano) / 1e6,
  attributes: recordOf(span.attributes),
  error: span.status.code === 2 ? span.status.message : undefined,
})

const recordOf = (attributes: readonly OtlpAttribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]))
