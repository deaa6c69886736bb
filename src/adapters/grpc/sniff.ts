import type { Socket } from 'node:net'

/** A client of HTTP/2 says this first when nothing was negotiated before. */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/**
 * Reads as much of a fresh connection as tells HTTP/2 from HTTP/1, and puts it back. A connection that says nothing, or that
 * ends before it is clear, is never told of: who waits for it needs a time limit.
 */
export function sniff(socket: Socket, tell: (protocol: 'h2' | 'http/1.1') => void): void {
  let seen = Buffer.alloc(0)
  const look = () => {
    const chunk: unknown = socket.read()
    if (!Buffer.isBuffer(chunk)) return
    seen = Buffer.concat([seen, chunk])
    const known = Math.min(seen.length, PREFACE.length)
    const isPreface = PREFACE.subarray(0, known).equals(seen.subarray(0, known))
    if (isPreface && known < PREFACE.length) return
    socket.off('readable', look)
    socket.unshift(seen)
    tell(isPreface ? 'h2' : 'http/1.1')
  }
  socket.on('readable', look)
}
