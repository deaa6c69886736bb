import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { TunnelHandler } from '../engines/tunnel/index.ts'
import { allIsSaid, decodePiece, encodePiece, PORT_KEYS, pieces, portIn, portIsOpen } from '../rpc/index.ts'
import { type Clock, Failure, seconds } from '../std/index.ts'

/** A server in the pod may listen on either of them. Nothing else is ever reached, whatever kas asks for. */
const LOOPBACK = ['127.0.0.1', '::1'] as const
const ANSWER_WITHIN = seconds(5)

/** Joins a call with a port of the pod: bytes both ways, each at the pace of who reads them. Either side may end first. */
export const joinPorts = (clock: Clock): TunnelHandler =>
  async function* (requests, call) {
    const port = portIn(call.metadata[PORT_KEYS.port])
    if (port === undefined)
      throw new Failure('invalid', `${PORT_KEYS.port} must be there once and be a port`, { reason: 'InvalidRequest' })
    const socket = await open(port, clock, call.signal)
    const leave = () => void socket.destroy()
    call.signal.addEventListener('abort', leave, { once: true })
    try {
      if (call.signal.aborted) return
      yield portIsOpen()
      const heard = hear(requests, socket)
      // To stop reading is not to hang up: the other half may still be under way.
      for await (const chunk of socket.iterator({ destroyOnReturn: false }))
        for (const piece of pieces(chunk)) yield encodePiece(piece)
      yield allIsSaid()
      await heard
    } catch (thrown) {
      throw new Failure('unavailable', 'the connection to the port was lost', { cause: thrown })
    } finally {
      call.signal.removeEventListener('abort', leave)
      socket.destroy()
    }
  }

/** The asking side's half. When that hangs up, the other half ends too. */
async function hear(requests: AsyncIterable<Uint8Array>, socket: Socket): Promise<void> {
  try {
    for await (const bytes of requests) {
      if (socket.destroyed) return
      const { data } = decodePiece(bytes)
      if (data.length > 0 && !socket.write(data)) await drained(socket)
    }
    socket.end()
  } catch {
    socket.destroy()
  }
}

/** It can take more, or is closed. */
async function drained(socket: Socket): Promise<void> {
  const over = new AbortController()
  try {
    await Promise.race([once(socket, 'drain', over), once(socket, 'close', over)])
  } finally {
    over.abort()
  }
}

async function open(port: number, clock: Clock, signal: AbortSignal): Promise<Socket> {
  let refused: Failure | undefined
  for (const host of LOOPBACK) {
    try {
      return await connected(host, port, clock, signal)
    } catch (thrown) {
      const failure = Failure.from(thrown)
      if (failure.code !== 'not-found') throw failure
      refused = failure
    }
  }
  throw refused ?? new Failure('not-found', 'nothing listens on the port')
}

async function connected(host: string, port: number, clock: Clock, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true, signal })
  // An error that comes once it is connected is heard by its reader.
  socket.on('error', () => undefined)
  const cancel = clock.after(ANSWER_WITHIN, () => socket.destroy(new Failure('timeout', 'nothing answers on the port')))
  try {
    await once(socket, 'connect')
    return socket
  } catch (thrown) {
    throw thrown instanceof Failure ? thrown : new Failure('not-found', 'nothing listens on the port', { cause: thrown })
  } finally {
    cancel()
  }
}
