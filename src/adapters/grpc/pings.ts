import { performServerHandshake } from 'node:http2'
import { PassThrough } from 'node:stream'

/**
 * Lets a connection ping that only brings its last calls to an end, on either side. Node lets such pings fail, which the gRPC library takes
 * for a dead connection, so that each keepalive after a GOAWAY would cut the calls that the GOAWAY was to spare:
 * https://github.com/grpc/grpc-node/issues/3068. The library makes its clients' sessions where nobody else sees them; so it is mended
 * for all sessions of HTTP/2, and Node shows their prototype only in a session.
 */
function pingUntilTheEnd(): void {
  const session = performServerHandshake(new PassThrough())
  const prototype = Object.getPrototypeOf(Object.getPrototypeOf(session))
  session.destroy()
  const ping: typeof session.ping = prototype.ping
  prototype.ping = function (this: typeof session, ...given: Parameters<typeof ping>) {
    if (!this.closed || this.destroyed) return ping.apply(this, given)
    // What it asks whether it may.
    Object.defineProperty(this, 'closed', { value: false, configurable: true })
    try {
      return ping.apply(this, given)
    } finally {
      Reflect.deleteProperty(this, 'closed')
    }
  }
}

pingUntilTheEnd()
