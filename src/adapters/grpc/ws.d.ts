/** The package ws brings no types: these are the parts of it that are used here. */
declare module 'ws' {
  import type { EventEmitter } from 'node:events'
  import type { IncomingMessage } from 'node:http'
  import type { Duplex } from 'node:stream'

  interface Settings {
    perMessageDeflate?: boolean
    /** Longest message that is taken, in bytes. */
    maxPayload?: number
    maxFragments?: number
    closeTimeout?: number
  }

  export class WebSocket extends EventEmitter {
    static readonly OPEN: number
    constructor(
      url: string,
      protocols: string[],
      options: Settings & { createConnection?: () => Duplex; headers: Record<string, string> },
    )
    readonly readyState: number
    send(data: Uint8Array | string, options?: { binary: boolean }, done?: (error?: Error) => void): void
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
