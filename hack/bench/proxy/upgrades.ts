import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { listen } from '../../../src/std/listen.ts'
import { print, since } from '../figures.ts'
import { inParallel } from '../stage.ts'
import { addressOf, headersOf, type Setup } from './setup.ts'

const AT_ONCE = 50

/** Upgrades that the visitor gives up, to a port where nobody listens. Sockets and heap of the proxy, before and after. */
export async function upgrades({ proxy, workspace, signedIn }: Setup, count: number): Promise<void> {
  const server = createServer()
  const port = await listen(server, '127.0.0.1', 0)
  server.close()
  await workspace('dead', `127.0.0.1:${port}`)
  const place = await signedIn('dead', 'ada@example.com')
  const lines = Object.entries(headersOf(place)).map(([name, value]) => `${name}: ${value}\r\n`)
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  const abort = async () => {
    const socket = connect({ ...addressOf(place) })
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    socket.write(`GET / HTTP/1.1\r\n${lines.join('')}${upgrade}\r\n\r\n`, () => socket.destroy())
    await once(socket, 'close')
  }
  const state = async () => {
    await pause(systemClock, seconds(2))
    const { heap = 0 } = await proxy.tell(JSON.stringify({ wish: 'heap' }))
    return { sockets: readdirSync(`/proc/${proxy.pid}/fd`).length, 'heap MB': heap }
  }
  // Once before, so that what is made only once is not counted.
  await inParallel(AT_ONCE, AT_ONCE, abort)
  print('before', await state())
  const began = performance.now()
  await inParallel(count, AT_ONCE, abort)
  print(`${count} aborted upgrades`, { seconds: since(began), ...(await state()) })
}
