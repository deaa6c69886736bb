import { constants, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { status } from '@grpc/grpc-js'
import { type Clock, Failure, type Log } from '../../std/index.ts'
import type { CallMeter, Guarded } from './offer.ts'
import { statusFromFailure } from './status.ts'

export interface ShelterOptions {
  /** By their paths. */
  guarded: ReadonlyMap<string, Guarded>
  /** So long the one message of a call may take that is read before its handler begins. Milliseconds. */
  message: number
  onCall: CallMeter
  clock: Clock
  log: Log
}

/**
 * Stands before the library. It reads the message of a unary call to its end before it asks anybody, and waits for it as long as the
 * connection lasts: 4 MiB for each of ten thousand calls of a stranger. So the door is asked when the headers are here, and what
 * may come in has to come in time. A stream that was reset before anybody saw it makes the library throw, or fails unheard:
 * either would end the process.
 */
export function shelter(http2: Http2Server, options: ShelterOptions): void {
  const answers = http2.listeners('stream')
  http2.removeAllListeners('stream')
  http2.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest: unknown[]) => {
    stream.on('error', () => undefined)
    if (stream.destroyed) return
    const answer = () => {
      if (stream.destroyed || stream.closed) return
      try {
        for (const one of answers) one.call(http2, stream, headers, ...rest)
      } catch {
        stream.destroy()
      }
    }
    const path = headers[':path'] ?? ''
    const guarded = options.guarded.get(path)
    if (guarded) void enter({ stream, headers, path }, guarded, options, answer)
    else answer()
  })
}

interface GuardedCall {
  stream: ServerHttp2Stream
  headers: IncomingHttpHeaders
  path: string
}

async function enter(
  call: GuardedCall,
  { door, isReadFirst }: Guarded,
  options: ShelterOptions,
  answer: () => void,
): Promise<void> {
  try {
    // Who has no door is not kept waiting, not even for a turn of the loop.
    if (door) await door(seenBy(call))
  } catch (thrown) {
    return refuse(call, thrown, options)
  }
  if (isReadFirst) hurry(call, options)
  answer()
}

const seenBy = ({ stream, headers, path }: GuardedCall) => {
  const { remoteAddress, remotePort } = stream.session?.socket ?? {}
  return {
    metadata: (key: string) => headers[key]?.toString(),
    peer: `${remoteAddress}:${remotePort}`,
    path,
  }
}

/** The stream of requests ends when its last byte has been read. */
function hurry(call: GuardedCall, options: ShelterOptions): void {
  const { clock, message } = options
  const calm = clock.after(message, () => refuse(call, tooSlow(message), options))
  call.stream.once('end', calm).once('close', calm)
}

/** Says why, reads no further, and lets nothing of the call stay. */
function refuse({ stream, path }: GuardedCall, thrown: unknown, { onCall, log }: ShelterOptions): void {
  const { code, details, metadata } = statusFromFailure(thrown)
  const failure = Failure.from(thrown)
  if (failure.code === 'internal') log.error('A call failed', { method: path, error: failure })
  onCall(path)(status[code] ?? 'UNKNOWN')
  if (stream.destroyed || stream.closed || stream.headersSent) return
  const headers = {
    ':status': 200,
    'content-type': 'application/grpc+proto',
    'grpc-status': code,
    'grpc-message': encodeURI(details),
    ...metadata.toHttp2Headers(),
  }
  stream.respond(headers, { endStream: true })
  stream.close(constants.NGHTTP2_NO_ERROR)
}

const tooSlow = (message: number) =>
  new Failure('timeout', `the request did not come within ${message / 1000} s`, {
    reason: 'RequestTooSlow',
    remedy: 'Send it at once, or look for what holds it up on its way.',
  })
