import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { equal, match, ok } from 'uvu/assert'
import { WebSocketServer } from 'ws'
import { openSocket } from '../../../src/adapters/kube/web-socket.ts'
import { type Clock, minutes, systemClock } from '../../../src/std/index.ts'
import { listen } from '../../../src/std/listen.ts'
import { steppedClock } from '../../support/clock.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const MIB = 2 ** 20
/** A frame of RFC 6455 with bytes and none in it. */
const EMPTY = Buffer.of(0x82, 0)

describe('a WebSocket to a server of a stranger', (it) => {
  let server: Server
  let port = 0
  const lines: Duplex[] = []
  it.before(async () => {
    server = createServer()
    const sockets = new WebSocketServer({ noServer: true })
    server.on('upgrade', (request, line, head) => sockets.handleUpgrade(request, line, head, () => lines.push(line)))
    port = await listen(server, '127.0.0.1', 0)
  })
  it.after(async () => {
    for (const line of lines) line.destroy()
    server.close()
    await once(server, 'close')
  })

  const open = (clock: Clock = systemClock) =>
    openSocket({
      ...{ url: new URL(`ws://127.0.0.1:${port}/`), protocols: [], headers: {}, tls: {}, lookup: undefined },
      ...{ timeout: 10_000, signal: undefined, clock },
    })

  /** Ends as programs do that have nothing more to say: the kernel has all of it, and answers whatever comes with a reset. */
  const sayAll = (line: Duplex | undefined) => {
    const frame = Buffer.concat([Buffer.of(0x82, 126, 0x80, 0), Buffer.alloc(32 * 1024, 'x')])
    line?.write(Buffer.concat(Array.from({ length: 40 }, () => frame)))
    if (line instanceof Socket) line.destroySoon()
  }
  const ALL = 40 * 32 * 1024

  it('takes a reader that is slow for no connection that is lost', async () => {
    // At the first message it stops until more have come than it takes; then wherever it stops they are behind it.
    for (let stop = 0; stop <= 12; stop++) {
      const clock = steppedClock()
      const { socket } = await open(clock)
      const line = lines.at(-1)
      sayAll(line)
      let taken = 0
      let at = 0
      for await (const message of socket?.messages ?? []) {
        if (at === 0) await eventually(() => line?.closed)
        if (at++ === stop) await clock.step(minutes(5))
        taken += message.length
      }
      equal([stop, taken], [stop, ALL])
    }
  })

  it('takes no message that is much longer than those of the API', async () => {
    const { socket } = await open()
    const text = Buffer.alloc(MIB, 'x')
    lines.at(-1)?.write(Buffer.concat([Buffer.of(0x82, 127, 0, 0, 0, 0, 0, 0x10, 0, 0), text]))
    const failure = await failureOf(async () => {
      for await (const _ of socket?.messages ?? []) ok(false, 'it was taken')
    })
    match(failure.message, 'Max payload size exceeded')
  })

  it('takes no end of messages without a byte in them, that nobody reads', async () => {
    const answer = await open()
    const line = lines.at(-1)
    line?.write(Buffer.alloc(16 * MIB, EMPTY))
    const left = () => line?.writableLength ?? 0
    let last = { left: -1, looks: 0 }
    await eventually(() => {
      last = left() === last.left ? { ...last, looks: last.looks + 1 } : { left: left(), looks: 0 }
      return last.looks === 12
    })
    ok(left() > 0, 'all of it was taken')
    answer.socket?.close()
  })
})
