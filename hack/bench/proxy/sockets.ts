import { once } from 'node:events'
import { WebSocket } from 'ws'
import { Workspaces } from '../../../src/api/index.ts'
import { pause, systemClock } from '../../../src/std/index.ts'
import { print, quantile, spreadOf } from '../figures.ts'
import { inParallel } from '../stage.ts'
import { MEGABYTE } from './parts.ts'
import { addressOf, headersOf, NAMESPACE, type Place, type Setup } from './setup.ts'

const OPENED_AT_ONCE = 32
const ROUNDS = 5
/** Each of many sends so much so often: 40 KB a second. */
const CHUNK = 4096
const PACE = 100

/** Messages that are echoed, one under way on each socket: small ones on fifty, of a megabyte on four. */
export async function sockets({ ways }: Setup, seconds: number): Promise<void> {
  for (const [words, count, size] of [
    ['small', 50, 32],
    ['1 MB', 4, MEGABYTE],
  ] as const)
    for (const [title, place] of Object.entries(ways)) print(`${words}: ${title}`, await echoes(place, count, size, seconds))
}

async function echoes(place: Place, count: number, size: number, seconds: number) {
  const all = await opened(place, count)
  const took: number[] = []
  const before = await place.part.cpu()
  const end = performance.now() + seconds * 1000
  const message = Buffer.alloc(size, 'x')
  const talk = async (socket: WebSocket) => {
    while (performance.now() < end) {
      const began = performance.now()
      const echoed = once(socket, 'message')
      socket.send(message)
      await echoed
      took.push(performance.now() - began)
    }
  }
  await Promise.all(all.map(talk))
  const each = ((await place.part.cpu()) - before) / took.length
  await closed(all)
  return { 'messages/s': took.length / seconds, 'p50 ms': quantile(took, 0.5), 'CPU µs each': each * 1e6 }
}

/** So many at 40 KB a second each way, for ten seconds. */
export async function streaming({ ways }: Setup, count: number): Promise<void> {
  for (const [title, place] of Object.entries(ways)) {
    const all = await opened(place, count)
    const took: number[] = []
    let sent = 0
    for (const socket of all) socket.on('message', (data: Buffer) => took.push(performance.now() - data.readDoubleLE()))
    const before = await place.part.cpu()
    const began = performance.now()
    for (let beat = 1; beat <= 100; beat++) {
      for (const socket of all) {
        const chunk = Buffer.alloc(CHUNK)
        chunk.writeDoubleLE(performance.now())
        socket.send(chunk)
        sent++
      }
      await pause(systemClock, Math.max(0, began + beat * PACE - performance.now()))
    }
    await pause(systemClock, 1000)
    const seconds = (performance.now() - began) / 1000
    const cores = ((await place.part.cpu()) - before) / seconds
    const gone = all.filter(({ readyState }) => readyState !== WebSocket.OPEN).length
    await closed(all)
    const echo = { 'p50 ms': quantile(took, 0.5), 'p95 ms': quantile(took, 0.95) }
    print(`${count} × 40 KB/s: ${title}`, { drops: sent - took.length, closed: gone, ...echo, cores })
  }
}

/** So many streams of somebody whose share is taken away. From the API server's answer to the last one's end. */
export async function revoked({ user, workspace, signedIn }: Setup, count: number): Promise<void> {
  const took: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const name = `shared-${round}`
    await workspace(name, undefined, { spec: { shares: [{ name: 'pair', user: 'grace@example.com', ports: ['app'] }] } })
    const all = await opened(await signedIn(name, 'grace@example.com'), count)
    const ends = all.map((socket) => once(socket, 'close'))
    await user.patch(Workspaces, { name, namespace: NAMESPACE }, { spec: { shares: [] } })
    const began = performance.now()
    await Promise.all(ends)
    took.push(performance.now() - began)
  }
  print(`${count} streams, ${ROUNDS} times: all closed`, spreadOf(took))
}

async function opened(place: Place, count: number): Promise<WebSocket[]> {
  const { host, port } = addressOf(place)
  const all: WebSocket[] = []
  await inParallel(count, OPENED_AT_ONCE, async () => {
    const socket = new WebSocket(`ws://${host}:${port}/`, [], { headers: headersOf(place), perMessageDeflate: false })
    await once(socket, 'open')
    socket.on('error', () => undefined)
    all.push(socket)
  })
  return all
}

async function closed(all: readonly WebSocket[]): Promise<void> {
  const ends = all.map((socket) => (socket.readyState === WebSocket.OPEN ? once(socket, 'close') : undefined))
  for (const socket of all) socket.close()
  await Promise.all(ends)
}
