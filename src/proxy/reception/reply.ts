import type { ServerResponse } from 'node:http'
import type { Reader, Reply } from '../ports.ts'

/** What is still to come of a body is not read: the connection ends with the answer. */
export function write(response: ServerResponse, { status, headers, body }: Reply, { method }: Pick<Reader, 'method'>): void {
  if (typeof body === 'function') {
    // Who has gone meanwhile is told nothing, and what goes on writing would never hear that they have.
    if (response.destroyed || response.closed) return
    response.writeHead(status, headers)
    if (method === 'HEAD') response.end()
    else body(response)
    return
  }
  const mayKeep = method === 'GET' || method === 'HEAD'
  response.writeHead(status, {
    ...headers,
    'content-length': Buffer.byteLength(body),
    ...(!mayKeep && { connection: 'close' }),
  })
  response.end(method === 'HEAD' ? '' : body)
}
