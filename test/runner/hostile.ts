/**
 * Loaded before a program, it lets some reads and writes of sockets, and writes of HTTP/2 streams, come a moment later, in order. What a
 * test only guesses (that one connection is heard of before another, that an answer is there before the next look) stops being
 * so. Programs that the program starts do the same. TEST_SEED chooses which and how much later.
 */
import { subscribe } from 'node:diagnostics_channel'
import http from 'node:http'
import https from 'node:https'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { systemClock } from '../../src/std/index.ts'
import { dice, runSeed } from '../support/dice.ts'

/** One of so many is delayed, by at most so long; most delays are short, so that a run does not take for ever. */
const ONE_OF = 3
const LONGEST_MS = 60

const roll = dice(runSeed + process.pid)
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${import.meta.url}`.trim()

const isDelayed = () => roll(ONE_OF) === 0
const delay = () => roll(roll(roll(LONGEST_MS) + 1) + 1)

function sometimesLater(run: () => void): void {
  if (isDelayed()) systemClock.after(delay(), run)
  else run()
}

/** What was read and is not given out yet, by stream. */
const held = new WeakMap<Duplex, unknown[]>()

/** All streams with this prototype. */
function delayWrites(prototype: object): void {
  // A stream writes nothing more before it was told that the last write is done; so writes stay in order by themselves.
  for (const name of ['_write', '_writev', '_final'] as const) {
    const original: unknown = Reflect.get(prototype, name)
    Reflect.set(prototype, name, function write(this: Duplex, ...all: unknown[]) {
      const done = all.at(-1)
      // What a program prints must be out before it ends itself.
      if (this === process.stdout || this === process.stderr) return void call(original, this, all)
      sometimesLater(() => call(this.destroyed ? done : original, this, this.destroyed ? [] : all))
    })
  }
}

function delayReads(prototype: object): void {
  const push: unknown = Reflect.get(prototype, 'push')
  Reflect.set(prototype, 'push', function read(this: Duplex, chunk: unknown): boolean {
    const queue = held.get(this)
    if (queue) {
      queue.push(chunk)
      return false
    }
    if (!isDelayed()) return Boolean(call(push, this, [chunk]))
    held.set(this, [chunk])
    systemClock.after(delay(), () => giveOut(this, push))
    // The stream reads on when it is asked for more, which it is after the next push.
    return false
  })
}

function giveOut(stream: Duplex, push: unknown): void {
  const queue = held.get(stream) ?? []
  held.delete(stream)
  for (const chunk of queue) {
    if (stream.destroyed) return
    call(push, stream, [chunk])
    if (chunk === null) stream.read(0)
  }
}

delayWrites(Socket.prototype)
delayReads(Socket.prototype)

// Sessions of HTTP/2 read and write beneath their sockets, so their streams are delayed instead: where they write, for what a
// stream reads never comes behind its trailers, or its end.
const isFirst = { client: true, server: true }
for (const side of ['client', 'server'] as const) {
  subscribe(`http2.${side}.stream.created`, (message) => {
    const stream = typeof message === 'object' && message !== null && Reflect.get(message, 'stream')
    if (isFirst[side] && typeof stream === 'object' && stream !== null) delayWrites(Object.getPrototypeOf(stream))
    isFirst[side] = false
  })
}

// Servers of HTTP/1 read beneath a socket, too, unless its handle does not say what it is.
for (const [server, event] of [
  [http.Server, 'connection'],
  [https.Server, 'secureConnection'],
] as const) {
  const emit: unknown = server.prototype.emit
  Reflect.set(server.prototype, 'emit', function emitHidden(this: object, ...all: unknown[]) {
    const handle: unknown = all[0] === event && all[1] instanceof Socket && Reflect.get(all[1], '_handle')
    if (typeof handle === 'object' && handle !== null) Reflect.defineProperty(handle, 'isStreamBase', { value: false })
    return Boolean(call(emit, this, all))
  })
}

function call(original: unknown, self: object, all: unknown[]): unknown {
  if (typeof original !== 'function') throw new TypeError('this Node has other streams')
  return Reflect.apply(original, self, all)
}
