import type { WebResponse } from '../../adapters/http/index.ts'
import type { Reply } from '../../dashboard/index.ts'

/** The rest of a request's body is not read: the connection ends with the answer. */
export function writeReply(response: WebResponse, { status, headers, body }: Reply, method: string): void {
  if (typeof body === 'function') {
    // A client that has gone meanwhile is told nothing, and what goes on writing would never hear that it has.
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
