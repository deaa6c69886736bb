import type { Socket } from 'node:net'

/** Reads a socket while nobody has a reason to hold it. */
export interface SocketReading {
  hold(reason: string): void
  release(reason: string): void
}

export function readingOf(socket: Socket): SocketReading {
  const reasons = new Set<string>()
  return {
    hold(reason) {
      reasons.add(reason)
      socket.pause()
    },
    release(reason) {
      if (reasons.delete(reason) && reasons.size === 0) socket.resume()
    },
  }
}
