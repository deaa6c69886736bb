import type { IncomingMessage } from 'node:http'
import { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import { Failure } from '../../std/index.ts'

/** The name under which kas and agents carry gRPC in a WebSocket. */
export const SUBPROTOCOL = 'ws-tunnel'

/** Both sides of a WebSocket agree on these: its content is compressed already, or small. */
export const WEB_SOCKET = { perMessageDeflate: false, maxPayload: 10 * 2 ** 20, closeTimeout: 5000 } as const

/** Messages longer than this help nobody, and may not be longer than what the other side takes. */
const LONGEST = 2 ** 20
/** Of RFC 6455: the end, a side that goes away, data of a kind that is not understood, and a connection that is gone. */
const CLOSED = { normal: 1000, away: 1001, unsupported: 1003, lost: 1006 } as const

/** Answers upgraded connections. It is bound to no port: the listener hands requests over. */
export const createUpgrades = (): WebSocketServer =>
  new WebSocketServer({ ...WEB_SOCKET, noServer: true, clientTracking: false, handleProtocols: () => SUBPROTOCOL })

/** Says why a request for a WebSocket is refused, as a status line of HTTP; `undefined` when it may be upgraded. */
export function refusalOf({ headers }: IncomingMessage): string | undefined {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
  if (!offered.includes(SUBPROTOCOL)) return '400 Bad Request'
  // Only browsers name an origin, and then for a page that is none of ours.
  const { origin, host } = headers
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase())) return '403 Forbidden'
  return undefined
}

/**
 * The stream of bytes in the binary messages of an open WebSocket; where one message ends means nothing. A text message
 * is an error; the codes 1000 and 1001 are the end of the stream.
 */
export function streamOf(socket: WebSocket): Duplex {
  const stream = new Duplex({
    read: () => socket.resume(),
    write: (chunk: Buffer, _encoding, done) => send(socket, chunk, done),
    writev: (chunks, done) => sendAll(socket, grouped(chunks.map(({ chunk }) => chunk)), done),
    final(done) {
      socket.close(CLOSED.normal)
      done()
    },
    destroy(error, done) {
      socket.terminate()
      done(error)
    },
  })
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (!isBinary) {
      socket.close(CLOSED.unsupported, 'binary messages only')
      stream.destroy(new Error('a text message came where only binary ones are understood'))
    } else if (!stream.push(data)) socket.pause()
  })
  socket.on('error', (error: Error) => stream.destroy(error))
  socket.on('close', (code: number) => {
    if (code === CLOSED.normal || code === CLOSED.away) stream.push(null)
    else if (code === CLOSED.lost) stream.destroy()
    else stream.destroy(new Error(`the WebSocket was closed with ${code}`))
  })
  return stream
}

function send(socket: WebSocket, chunk: Buffer, done: (error?: Error | null) => void): void {
  if (chunk.length > LONGEST) sendAll(socket, grouped([chunk]), done)
  else if (socket.readyState === WebSocket.OPEN) socket.send(chunk, { binary: true }, (error) => done(error && gone()))
  else done(gone())
}

/** Not the other side's mistake: it has only left. */
const gone = () => new Failure('cancelled', 'the WebSocket is closed')

/** Only the last one is waited for: they are flushed in order. */
function sendAll(socket: WebSocket, messages: Buffer[], done: (error?: Error | null) => void): void {
  for (const [at, message] of messages.entries()) send(socket, message, at === messages.length - 1 ? done : () => undefined)
  if (messages.length === 0) done()
}

/** Frames of HTTP/2 come in small parts; each as a message of its own would cost more than copying them together. */
function grouped(chunks: Buffer[]): Buffer[] {
  const all = Buffer.concat(chunks)
  const messages: Buffer[] = []
  for (let at = 0; at < all.length; at += LONGEST) messages.push(all.subarray(at, at + LONGEST))
  return messages
}
