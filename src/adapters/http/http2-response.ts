import type { OutgoingHttpHeaders } from 'node:http'
import { constants, Http2ServerResponse, type ServerHttp2Stream } from 'node:http2'
import { HOP_BY_HOP } from './forward.ts'
import type { WebResponse } from './web.ts'

type Headers = OutgoingHttpHeaders | readonly string[]

/** Takes the headers that an answer has in HTTP/1.1; those that speak of the connection are left out. */
export class TranslatedResponse extends Http2ServerResponse implements WebResponse {
  /** A stream is used once. */
  shouldKeepAlive = true
  declare flushHeaders: () => void

  constructor(stream: ServerHttp2Stream) {
    super(stream)
    const isOver = { get: () => stream.destroyed || stream.closed }
    // Its types promise them, and it has none.
    Object.defineProperties(this, { destroyed: isOver, closed: isOver })
    // A body that nobody has read is not waited for. RFC 9113, 8.1.
    stream.once('finish', () => {
      if (!(stream.endAfterHeaders || stream.readableEnded)) stream.close(constants.NGHTTP2_NO_ERROR)
    })
  }

  override writeHead(status: number, text?: string | Headers, headers?: Headers): this {
    return super.writeHead(status, withoutHops(typeof text === 'string' ? headers : text))
  }

  override destroy(): this {
    this.stream.close(constants.NGHTTP2_CANCEL)
    return this
  }
}

/** Nor may they be there. */
function withoutHops(headers: Headers = {}): Headers {
  if (!Array.isArray(headers))
    return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase())))
  return headers.filter((_, at) => !HOP_BY_HOP.has(headers[at - (at % 2)].toLowerCase()))
}
