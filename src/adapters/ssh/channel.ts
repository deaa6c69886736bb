import type { Socket } from 'node:net'
import type { ServerChannel } from 'ssh2'
import type { SshChannel } from './door.ts'

/** Beyond it nothing is written to a client that does not read, whatever window it has given. */
const MOST_UNSENT = 2 ** 20

/** Each channel has a window of 2 MiB: a client that sends more keeps to no rule. */
export const MOST_UNREAD = 4 * 2 ** 20

/** The pieces that could not be sent yet, as the library keeps them. */
interface Kept {
  _chunk?: unknown
  _chunkcb?: unknown
  _chunkErr?: unknown
  _chunkcbErr?: unknown
}

/** Of a channel or a session, which ends before its connection, or with it. */
export function endingWith(connection: AbortSignal): AbortController {
  const own = new AbortController()
  const end = () => own.abort()
  if (connection.aborted) end()
  connection.addEventListener('abort', end)
  // A connection may outlive very many of them.
  own.signal.addEventListener('abort', () => connection.removeEventListener('abort', end), { once: true })
  return own
}

/** `over` aborts with the connection, or when the client closes the channel. */
export function channelOf(channel: ServerChannel, socket: Socket, over: AbortController): SshChannel {
  const { signal } = over
  const close = () => over.abort()
  channel.on('close', close)
  // What is written after the end is no uncaught exception.
  for (const stream of [channel, channel.stderr]) stream.on('error', close)
  const count = { received: 0 }
  const one = async (bytes: Uint8Array, to: 'stdout' | 'stderr') => {
    await untilSent(socket, signal)
    await new Promise<void>((resolve) => {
      if (signal.aborted || !channel.writable) return resolve()
      const done = () => {
        signal.removeEventListener('abort', done)
        resolve()
      }
      // Where the client has closed the channel, the library never says that it is done.
      signal.addEventListener('abort', done)
      const stream = to === 'stdout' ? channel : channel.stderr
      gather(socket)
      stream.write(bytes, done)
    })
    forget(channel)
  }
  // One piece at a time: where both streams wait for the window the library forgets one of them.
  let last = Promise.resolve()
  return {
    input: inputOf(channel, signal, count),
    write(bytes, to = 'stdout') {
      last = last.then(() => one(bytes, to))
      return last
    },
    end(code) {
      if (signal.aborted) return
      if (code !== undefined) channel.exit(code)
      channel.end()
    },
    closed: signal,
    received: () => count.received,
  }
}

/** The library sends each packet in three parts: they leave together, with all that comes in the same turn. */
function gather(socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  setImmediate(() => socket.uncork())
}

/** The library keeps a piece that has been sent, and sends it again when the other stream waits for the window. */
function forget(channel: ServerChannel): void {
  const kept = channel as unknown as Kept // as: its types leave out what is its own
  kept._chunk = undefined
  kept._chunkcb = undefined
  kept._chunkErr = undefined
  kept._chunkcbErr = undefined
}

function untilSent(socket: Socket, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (socket.writableLength <= MOST_UNSENT || signal.aborted) return Promise.resolve()
  const done = () => {
    socket.off('drain', done)
    signal.removeEventListener('abort', done)
    resolve()
  }
  socket.on('drain', done)
  signal.addEventListener('abort', done)
  return promise
}

async function* inputOf(channel: ServerChannel, signal: AbortSignal, count: { received: number }): AsyncGenerator<Uint8Array> {
  while (!signal.aborted) {
    const chunk: Buffer | null = channel.read()
    if (chunk !== null) {
      count.received += chunk.length
      yield chunk
    } else if (channel.readableEnded) return
    else await untilMore(channel, signal)
  }
}

function untilMore(channel: ServerChannel, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = () => {
    channel.off('readable', done)
    channel.off('end', done)
    signal.removeEventListener('abort', done)
    resolve()
  }
  channel.on('readable', done)
  channel.on('end', done)
  signal.addEventListener('abort', done)
  return promise
}
