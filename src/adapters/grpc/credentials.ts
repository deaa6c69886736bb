import { isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'
import { CallCredentials, ChannelCredentials } from '@grpc/grpc-js'
import { WebSocket } from 'ws'
import { type Clock, Failure } from '../../std/index.ts'
import type { ServerAddress } from './address.ts'
import { type Connector, HastyCredentials } from './handshake.ts'
import { SUBPROTOCOL, streamOf, WEB_SOCKET } from './web-socket.ts'

export interface Trust {
  /** PEM of the authorities to trust instead of the system's. */
  ca?: Uint8Array | undefined
  /** PEM of authorities to trust beside them. */
  extraCa?: Uint8Array | undefined
  /** For whom the certificate must be made out, when that is not the host of the address. */
  serverName?: string | undefined
  /** Believes any certificate. For development only. */
  insecureSkipVerify?: boolean | undefined
}

/** How a channel gets from a TCP connection to one that speaks HTTP/2, and when it gives up. */
export const credentialsFor = (
  address: ServerAddress,
  trust: Trust,
  headers: Record<string, string>,
  clock: Clock,
): ChannelCredentials => new HastyCredentials(channelTo(address, trust, headers), clock)

function channelTo(address: ServerAddress, trust: Trust, headers: Record<string, string>): ChannelCredentials {
  const { scheme } = address
  if (scheme === 'grpc') return ChannelCredentials.createInsecure()
  if (scheme === 'grpcs')
    return ChannelCredentials.createFromSecureContext(contextOf(trust), { rejectUnauthorized: !trust.insecureSkipVerify })
  const context = scheme === 'wss' ? contextOf(trust) : undefined
  return new WebSocketCredentials(async (socket) => {
    const connection = context ? await secured(socket, address.host, context, trust) : socket
    const url = `${scheme}://${address.authority}${address.path}`
    return upgraded(url, connection, headers)
  })
}

function contextOf({ ca, extraCa }: Trust): tls.SecureContext {
  const roots = ca ? [Buffer.from(ca)] : [...new Set([...tls.getCACertificates('default'), ...tls.getCACertificates('system')])]
  try {
    return tls.createSecureContext({ ca: extraCa ? [...roots, Buffer.from(extraCa)] : roots, minVersion: 'TLSv1.2' })
  } catch (cause) {
    throw new Failure('invalid', 'the authorities to trust cannot be read', {
      cause,
      remedy: 'Give certificates as PEM, one after the other.',
    })
  }
}

const secured = (socket: Socket, host: string, secureContext: tls.SecureContext, trust: Trust): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { serverName = host, insecureSkipVerify } = trust
    const over = tls.connect({
      socket,
      secureContext,
      // Addresses are no names: TLS has no field for them.
      ...(isIP(serverName) ? {} : { servername: serverName }),
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: !insecureSkipVerify,
      checkServerIdentity: (_host, certificate) => tls.checkServerIdentity(serverName, certificate),
    })
    over.once('secureConnect', () => resolve(over))
    over.once('error', reject)
  })

const upgraded = (url: string, connection: Duplex, headers: Record<string, string>): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, [SUBPROTOCOL], {
      ...WEB_SOCKET,
      headers,
      createConnection: () => connection,
    })
    // At once: the first message may have come with the answer.
    socket.once('open', () => resolve(streamOf(socket)))
    socket.once('error', reject)
  })

/**
 * grpc-js opens the TCP connection, also through a proxy, and asks the credentials of its channel to make it secure. This is the
 * only place where it lets anybody come between TCP and HTTP/2. test/adapters/grpc/canary.test.ts tells when it no longer does.
 */
class WebSocketCredentials extends ChannelCredentials {
  readonly #tunnel: (socket: Socket) => Promise<Duplex>
  constructor(tunnel: (socket: Socket) => Promise<Duplex>) {
    super()
    this.#tunnel = tunnel
  }
  override _isSecure(): boolean {
    return false
  }
  override _equals(other: ChannelCredentials): boolean {
    return other === this
  }
  override _createSecureConnector(): Connector {
    return {
      connect: async (socket) => ({
        socket: (await this.#tunnel(socket)) as Socket, // adapter: HTTP/2 of Node takes any stream, the types of grpc-js do not
        secure: false,
      }),
      waitForReady: async () => undefined,
      getCallCredentials: () => CallCredentials.createEmpty(),
      destroy: () => undefined,
    }
  }
}
