/** The package ws brings no types: these are the parts of it that are used here. */
declare module 'ws' {
  import type { EventEmitter } from 'node:events'
  import type { IncomingMessage } from 'node:http'
  import type { LookupFunction } from 'node:net'
  import type { Duplex } from 'node:stream'
  import type { ConnectionOptions } from 'node:tls'

  interface Settings {
    perMessageDeflate?: boolean
    /** Longest message that is taken, in bytes. */
    maxPayload?: number
    maxFragments?: number
    closeTimeout?: number
  }

  interface ClientSettings extends Settings, Pick<ConnectionOptions, 'secureContext' | 'rejectUnauthorized' | 'servername'> {
    createConnection?: () => Duplex
    headers: Record<string, string | string[]>
    /** Until the answer, milliseconds. */
    handshakeTimeout?: number
    /** Writes a mask into four bytes, which are zero. */
    generateMask?: (mask: Buffer) => void
    lookup?: LookupFunction
  }

  export class WebSocket extends EventEmitter {
    static readonly OPEN: number
    constructor(url: string | URL, protocols: string[], options: ClientSettings)
    readonly readyState: number
    /** The one that the server has chosen. */
    readonly protocol: string
    send(data: Uint8Array | string, options?: { binary: boolean }, done?: (error?: Error) => void): void
    ping(): void
    close(code?: number, reason?: string): void
    terminate(): void
    pause(): void
    resume(): void
  }

  export interface WebSocketServer extends EventEmitter {
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, done: (socket: WebSocket) => void): void
  }
  export const WebSocketServer: new (
    options: Settings & { noServer: true; clientTracking?: false; handleProtocols?: () => string },
  ) => WebSocketServer
}
