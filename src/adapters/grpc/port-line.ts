import { Duplex as Stream } from 'node:stream'
import { CONNECT_PORT, decodePiece, encodePiece, PORT_KEYS, pieces } from '../../rpc/index.ts'
import { type Clock, Failure, seconds } from '../../std/index.ts'
import type { GrpcConnection } from './dial.ts'
import type { Duplex } from './duplex.ts'

/** A port of a workspace, as kas knows it. */
export interface WorkspacePort {
  /** UID of the Workspace. */
  workspace: string
  port: number
}

/** Until the port is open. A workspace that has just come up opens its tunnels in that time. Milliseconds. */
const OPEN_WITHIN = seconds(10)

/**
 * A connection to a port of a workspace through kas: bytes both ways, each at the pace of who reads them, and either side may end
 * first. Throws a `Failure` while the port is not open; destroying the stream ends the connection on the other side, too.
 */
export async function openLine(connection: GrpcConnection, { workspace, port }: WorkspacePort, clock: Clock): Promise<Stream> {
  const tooLate = new AbortController()
  const late = clock.after(OPEN_WITHIN, () => tooLate.abort())
  const metadata = { [PORT_KEYS.workspace]: [workspace], [PORT_KEYS.port]: [String(port)] }
  try {
    const call = await connection.duplexRaw(CONNECT_PORT, { metadata, signal: tooLate.signal })
    const incoming = call.responses[Symbol.asyncIterator]()
    const { done } = await incoming.next()
    if (done) throw closed()
    return lineOver(call, incoming)
  } catch (thrown) {
    throw tooLate.signal.aborted ? new Failure('timeout', 'nothing answers on the port', { reason: 'TooLate' }) : thrown
  } finally {
    late()
  }
}

const closed = () => new Failure('unavailable', 'the connection was closed without an answer', { reason: 'Closed' })

function lineOver(call: Duplex<Uint8Array, Uint8Array>, incoming: AsyncIterator<Uint8Array>): Stream {
  const next = async (): Promise<Uint8Array | null> => {
    while (true) {
      const { value, done } = await incoming.next()
      if (done) return null
      const { data, end } = decodePiece(value)
      if (end) return null
      if (data.length > 0) return data
    }
  }
  return new Stream({
    read() {
      next().then(
        (data) => this.push(data),
        (thrown: unknown) => this.destroy(Failure.from(thrown)),
      )
    },
    write(chunk: Buffer, _encoding, done) {
      sendAll(call, chunk).then(() => done(), done)
    },
    final(done) {
      call.closeSend()
      done()
    },
    destroy(error, done) {
      call.cancel()
      done(error)
    },
  })
}

async function sendAll(call: Duplex<Uint8Array, Uint8Array>, bytes: Uint8Array): Promise<void> {
  for (const piece of pieces(bytes)) await call.send(encodePiece(piece))
}
