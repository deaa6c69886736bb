import type { IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import { WebSocket } from 'ws'
import { type Clock, every, Failure, seconds } from '../../std/index.ts'
import type { TlsOptions } from './multiplex.ts'

/** A connection to the API server that both sides write messages on, such as that of a command in a pod. */
export interface KubeSocket {
  /** Read once, at the reader's pace; the connection ends when nobody reads on. Throws when it breaks. */
  readonly messages: AsyncIterable<Buffer>
  /** Resolves when the message is on its way. Throws `cancelled` after the end. */
  send(message: Uint8Array): Promise<void>
  close(): void
}

interface Handshake {
  url: URL
  protocols: string[]
  headers: Record<string, string | string[]>
  tls: TlsOptions
  lookup: LookupFunction | undefined
  /** Until the answer, milliseconds. */
  timeout: number
  signal: AbortSignal | undefined
  clock: Clock
}

/** What a server answers to a handshake: with a socket, or like any refusal. */
interface HandshakeAnswer {
  statusCode: number
  headers: Record<string, string | string[] | undefined>
  body: AsyncIterable<Uint8Array>
  socket?: KubeSocket
}

/** API servers and kubelets copy by 32 KiB; a stranger's may send anything, on hundreds of sockets that nobody reads. */
const LONGEST = 2 ** 18
/** A server may send so much before it is read. */
const AHEAD = 2 ** 18
/** Bytes in memory, with or without any in it. */
const EACH_MESSAGE = 256
const PING = seconds(30)
/** So many pings without a word from the other side: it is gone. */
const SILENT = 3

/** Asks for a WebSocket. Rejects when no answer comes. */
export function openSocket(handshake: Handshake): Promise<HandshakeAnswer> {
  const { url, protocols, headers, tls, lookup, timeout, signal, clock } = handshake
  const { promise, resolve, reject } = Promise.withResolvers<HandshakeAnswer>()
  const socket = new WebSocket(url, protocols, {
    ...tls,
    ...(lookup && { lookup }),
    headers,
    handshakeTimeout: timeout,
    perMessageDeflate: false,
    maxPayload: LONGEST,
    generateMask: zeros,
  })
  const { messages, isHeld, isBehind } = messagesOf(socket)
  const abort = () => socket.terminate()
  signal?.addEventListener('abort', abort, { once: true })
  socket.on('error', reject)
  socket.once('close', () => {
    signal?.removeEventListener('abort', abort)
    reject(new Failure(signal?.aborted ? 'cancelled' : 'unavailable', 'the connection was closed'))
  })
  socket.once('unexpected-response', (_request: unknown, answer: IncomingMessage) => {
    const { statusCode = 0 } = answer
    resolve({ statusCode, headers: answer.headers, body: answer })
  })
  socket.once('open', () => {
    beat(socket, clock, isBehind)
    const send = (message: Uint8Array) => sendOn(socket, message)
    // Where nothing is read, the other side's word for the end would not be heard either.
    const close = () => (isHeld() ? socket.terminate() : socket.close())
    resolve({ statusCode: 101, headers: {}, body: messages, socket: { messages, send, close } })
  })
  if (signal?.aborted) abort()
  return promise
}

/** Throws where the server has answered, but not in the way that it was asked. */
export function socketIn({ socket }: HandshakeAnswer, about: string): KubeSocket {
  if (socket) return socket
  throw new Failure('unavailable', 'the API server opened no WebSocket', { object: about })
}

/**
 * A mask of zeros, which the library then spares itself. Masks keep pages of strangers from writing what something between takes for
 * requests; here no page writes, and TLS is all around.
 */
const zeros = () => undefined

function sendOn(socket: WebSocket, message: Uint8Array): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const gone = () => reject(new Failure('cancelled', 'the connection is closed'))
  if (socket.readyState === WebSocket.OPEN) socket.send(message, { binary: true }, (error) => (error ? gone() : resolve()))
  else gone()
  return promise
}

/**
 * Nothing else would find out that the other side is gone, or keep what is between from forgetting a quiet connection. While messages
 * wait for a slow reader an answer would not be heard, and a server that has said its last would answer with a reset.
 */
function beat(socket: WebSocket, clock: Clock, isBehind: () => boolean): void {
  let unanswered = 0
  const heard = () => {
    unanswered = 0
  }
  socket.on('pong', heard)
  socket.on('message', heard)
  const stop = every(clock, PING, () => {
    if (isBehind()) heard()
    else if (unanswered++ >= SILENT) socket.terminate()
    else socket.ping()
  })
  socket.once('close', () => void stop())
}

interface Inbox {
  messages: AsyncIterable<Buffer>
  /** The server is kept from sending. */
  isHeld(): boolean
  /** Messages wait for the reader. */
  isBehind(): boolean
}

/** The server is read at the pace of the reader: a pause holds back all but what has come with the last bytes. */
function messagesOf(socket: WebSocket): Inbox {
  const waiting: Buffer[] = []
  const held = { now: false }
  let bytes = 0
  let end: { failure?: Failure } | undefined
  let wake: (() => void) | undefined
  socket.on('message', (message: Buffer) => {
    waiting.push(message)
    bytes += message.length + EACH_MESSAGE
    if (bytes > AHEAD) {
      held.now = true
      socket.pause()
    }
    wake?.()
  })
  socket.once('error', (error: Error) => {
    end ??= { failure: Failure.from(error) }
  })
  socket.once('close', () => {
    end ??= {}
    wake?.()
  })
  const messages = (async function* () {
    try {
      while (waiting.length > 0 || !end) {
        const message = waiting.shift()
        if (message) {
          bytes -= message.length + EACH_MESSAGE
          yield message
        } else {
          held.now = false
          socket.resume()
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
      if (end.failure) throw end.failure
    } finally {
      socket.terminate()
    }
  })()
  return { messages, isHeld: () => held.now, isBehind: () => held.now || waiting.length > 0 }
}
