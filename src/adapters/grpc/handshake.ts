import { ChannelCredentials } from '@grpc/grpc-js'
import { type Clock, seconds } from '../../std/index.ts'

/** From TCP to the first settings of HTTP/2; TLS and the answer to a request for a WebSocket are within. Milliseconds. */
const HANDSHAKE = seconds(20)

export type Connector = ReturnType<ChannelCredentials['_createSecureConnector']>

/**
 * A server that takes connections and says nothing would be waited for as long as the connection lasts: the library has no limit, and
 * its pings begin after the settings. That those have come is seen by what the library does then: it no longer listens for the
 * end of the connection. test/adapters/grpc/mute-server.test.ts tells when it does otherwise.
 */
export class HastyCredentials extends ChannelCredentials {
  readonly #inner: ChannelCredentials
  readonly #clock: Clock
  constructor(inner: ChannelCredentials, clock: Clock) {
    super()
    this.#inner = inner
    this.#clock = clock
  }
  override _isSecure(): boolean {
    return this.#inner._isSecure()
  }
  override _equals(other: ChannelCredentials): boolean {
    return other instanceof HastyCredentials && other.#clock === this.#clock && this.#inner._equals(other.#inner)
  }
  override _createSecureConnector(...of: Parameters<ChannelCredentials['_createSecureConnector']>): Connector {
    const connector = this.#inner._createSecureConnector(...of)
    const connect: Connector['connect'] = async (socket) => {
      const mute = Promise.withResolvers<never>()
      let cut = (why: Error) => mute.reject(why)
      const calm = this.#clock.after(HANDSHAKE, () => cut(silent()))
      socket.once('close', calm)
      const ready = await Promise.race([connector.connect(socket), mute.promise])
      cut = (why) => void ready.socket.destroy(why)
      ready.socket.on('removeListener', (event) => {
        if (event === 'close') calm()
      })
      return ready
    }
    return {
      connect,
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
    }
  }
}

const silent = () => new Error(`the server has not spoken HTTP/2 within ${HANDSHAKE / 1000} s`)
