import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Http2ServerRequest, type ServerHttp2Stream } from 'node:http2'
import type { ReadableOptions } from 'node:stream'

/** With the headers that it has in HTTP/1.1, which all behind it read. */
export class TranslatedRequest extends Http2ServerRequest {
  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, options: ReadableOptions, rawHeaders: readonly string[]) {
    super(stream, headers, options, rawHeaders)
    const socket = {
      remoteAddress: stream.session?.socket.remoteAddress,
      once: (event: 'close', listener: () => void) => stream.once(event, listener),
      off: (event: 'close', listener: () => void) => stream.off(event, listener),
    }
    const method = headers[':protocol'] === undefined ? headers[':method'] : 'GET'
    // They are getters of the class, whatever its types say.
    const own = { ...translate(headers, rawHeaders, stream), httpVersion: '1.1', method, socket }
    for (const [name, value] of Object.entries(own)) Object.defineProperty(this, name, { value })
  }
}

function translate(headers: IncomingHttpHeaders, rawHeaders: readonly string[], { endAfterHeaders }: ServerHttp2Stream) {
  const { ':authority': authority, ':protocol': protocol } = headers
  const added: IncomingHttpHeaders = {}
  if (authority !== undefined) added.host = String(authority)
  if (protocol !== undefined) Object.assign(added, { upgrade: String(protocol), 'sec-websocket-key': newKey() })
  else if (!endAfterHeaders && headers['content-length'] === undefined) added['transfer-encoding'] = 'chunked'
  const raw: string[] = []
  for (const [name, value] of Object.entries(added)) raw.push(name, String(value))
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    // A cookie may come in crumbs, which HTTP/1.1 does not know. RFC 9113, 8.2.3.
    if (!name.startsWith(':') && name !== 'cookie') raw.push(name, value)
  }
  if (headers.cookie !== undefined) raw.push('cookie', headers.cookie)
  const plain = Object.entries(headers).filter(([name]) => !name.startsWith(':'))
  return { headers: { ...Object.fromEntries(plain), ...added }, rawHeaders: raw }
}

const newKey = (): string => randomBytes(16).toString('base64')
