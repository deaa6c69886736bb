import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Clock } from '../../std/index.ts'

/** Limits of actions that cost a client less than us. */
export interface Calm {
  /** Milliseconds that are to lie between pings of a client to whom nothing was sent in between. */
  pingInterval: number
  /** Calls that a client may give up at once, and how many more each second. */
  resets: { burst: number; perSecond: number }
}

/** A client did too much of this. */
export type Flood = 'pings' | 'settings' | 'resets'

/** As gRPC for Go has it: this often a ping may come early, in turn. */
const STRIKES = 2
/** Clients change their settings when they open a connection, and each time they have measured that it bears more. */
const SETTINGS = 100
/** Bytes of a frame that answers a ping, and of one that answers settings. */
const PONG = 17
const ANSWERED = 9

/** Ends a connection that floods us, and only that one; `onFlood` is told once. */
export function keepCalm(session: ServerHttp2Session, calm: Calm, clock: Clock, onFlood: (what: Flood) => void): void {
  let isOver = false
  const end = (what: Flood) => {
    if (isOver) return
    isOver = true
    onFlood(what)
    if (session.destroyed) return
    // What has been said is flushed before the end, so that the client knows not to come back like that.
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from(`too_many_${what}`))
    setImmediate(() => session.destroy())
  }
  const [isEarly, isRash] = [pingRule(session, calm.pingInterval, clock), resetRule(calm.resets, clock)]
  let settings = 0
  session.on('ping', () => {
    if (!isOver && isEarly()) end('pings')
  })
  session.on('remoteSettings', () => {
    if (++settings > SETTINGS) end('settings')
  })
  session.on('stream', (stream: ServerHttp2Stream) => {
    const ended = () => {
      // Also those that we had to reset for what the client did: some floods are made of these.
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR && !isOver && isRash()) end('resets')
    }
    if (stream.destroyed) ended()
    else stream.once('close', ended)
  })
}

/**
 * Says of each ping whether it is one too many. The rule is that of gRPC for Go: its clients ping whenever they have received something, to
 * measure the line, so a ping after we have sent is none too many.
 */
function pingRule(session: ServerHttp2Session, interval: number, clock: Clock): () => boolean {
  let [strikes, pings, sent] = [0, 0, 0]
  let last = Number.NEGATIVE_INFINITY
  return () => {
    const now = clock.now()
    // Without the answers to pings, of which the last may not have been written yet.
    const written = bytesWritten(session) - pings * PONG
    pings++
    if (written > sent + ANSWERED) strikes = 0
    else if (now - last < interval) strikes++
    sent = Math.max(sent, written)
    last = now
    return strikes > STRIKES
  }
}

/** A bucket of tokens: each call that is given up costs one. */
function resetRule({ burst, perSecond }: Calm['resets'], clock: Clock): () => boolean {
  let tokens = burst
  let last = clock.now()
  return () => {
    const now = clock.now()
    tokens = Math.min(burst, tokens + ((now - last) / 1000) * perSecond) - 1
    last = now
    return tokens < 0
  }
}

const bytesWritten = ({ socket, destroyed }: ServerHttp2Session): number => (destroyed ? 0 : (socket.bytesWritten ?? 0))
