import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Duplex, Readable } from 'node:stream'

/** Names and values in turn, as they stand in a message. */
export type FlatHeaders = readonly string[]

/** A request of a browser, of either version of HTTP, with the headers that it has in HTTP/1.1. */
export interface WebRequest extends Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'rawHeaders' | 'httpVersion'> {
  /** The connection, or the stream of it. */
  readonly socket: {
    readonly remoteAddress?: string | undefined
    once(event: 'close', listener: () => void): unknown
    off(event: 'close', listener: () => void): unknown
  }
  /** The body. Read once. */
  iterator: Readable['iterator']
  /** Ends the reading of the body with an error. */
  destroy(): unknown
}

/** Answers a WebRequest, as Node's own ServerResponse does. */
export interface WebResponse {
  readonly statusCode: number
  readonly headersSent: boolean
  readonly destroyed: boolean
  readonly closed: boolean
  readonly writableEnded: boolean
  readonly writableFinished: boolean
  readonly writableLength: number
  /** Whether the connection may be used again; of HTTP/2 it tells nothing. */
  shouldKeepAlive: boolean
  writeContinue(): void
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown
  /** The text is left out where the version has none. */
  writeHead(status: number, text: string, headers: string[]): unknown
  flushHeaders(): void
  write(chunk: string | Uint8Array): boolean
  end(chunk?: string | Uint8Array): unknown
  /** Hangs up, so that what the visitor has does not look whole. */
  destroy(): unknown
  on(event: 'close' | 'drain' | 'finish' | 'error', listener: () => void): unknown
  once(event: 'close' | 'drain' | 'finish', listener: () => void): unknown
  off(event: 'close' | 'drain' | 'finish', listener: () => void): unknown
}

/** A browser wants to go on with another protocol, on the connection, or on the stream of one. */
export interface WebUpgrade {
  readonly request: WebRequest
  readonly line: Duplex
  /** Bytes that have come behind the request. */
  readonly first: Buffer
  /** Goes on. Throws when these are not the headers of somebody who does. */
  accept(protocol: string, headers: FlatHeaders): void
  /** For any other answer, with which it is over. */
  refusal(): WebResponse
}
