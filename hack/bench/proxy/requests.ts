import { Agent, request as httpRequest } from 'node:http'
import { print, quantile } from '../figures.ts'
import { MEGABYTE } from './parts.ts'
import { addressOf, headersOf, type Place, type Setup } from './setup.ts'

const CONNECTIONS = [10, 50, 200]
const FEW = 8

interface Asked {
  path: string
  body?: Buffer
}

const LARGE: Record<'down' | 'up', Asked> = { down: { path: '/large' }, up: { path: '/', body: Buffer.alloc(MEGABYTE, 'x') } }

/** Small requests by so many connections, for so many seconds each. */
export async function small({ ways }: Setup, seconds: number): Promise<void> {
  for (const connections of CONNECTIONS)
    for (const [title, place] of Object.entries(ways))
      print(`${connections} × ${title}`, await load(place, { path: '/' }, connections, seconds))
}

/** The same directly and through kas: small requests, and a megabyte each way. */
export async function tunnel({ ways, tunnelled }: Setup, seconds: number): Promise<void> {
  const direct = ways['proxy, with a session']
  for (const [title, place] of Object.entries({ direct, 'through kas and agentw': await tunnelled('far') })) {
    print(`50 × ${title}`, await load(place, { path: '/' }, 50, seconds))
    for (const [way, what] of Object.entries(LARGE)) print(`1 MB ${way}: ${title}`, await load(place, what, FEW, seconds))
  }
}

/** A megabyte each, down and up. */
export async function bodies({ ways }: Setup, seconds: number): Promise<void> {
  for (const [way, what] of Object.entries(LARGE))
    for (const [title, place] of Object.entries(ways)) print(`1 MB ${way}: ${title}`, await load(place, what, FEW, seconds))
}

/** So many visitors, each of whom asks again when it has its answer. */
async function load(place: Place, { path, body }: Asked, connections: number, seconds: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const { origin, ...headers } = headersOf(place)
  const options = {
    ...{ ...addressOf(place), path, agent, method: body ? 'POST' : 'GET' },
    headers: { ...headers, ...(body && { origin, 'content-length': body.length }) },
  }
  const took: number[] = []
  const before = await place.part.cpu()
  const end = performance.now() + seconds * 1000
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const began = performance.now()
      const request = httpRequest(options, (answer) => {
        if (answer.statusCode !== 200) reject(new TypeError(`answered ${answer.statusCode}`))
        answer.resume().on('end', () => {
          took.push(performance.now() - began)
          resolve()
        })
      })
      request.on('error', reject).end(body)
    })
  const visitor = async () => {
    while (performance.now() < end) await ask()
  }
  await Promise.all(Array.from({ length: connections }, visitor))
  agent.destroy()
  const each = ((await place.part.cpu()) - before) / took.length
  return {
    'requests/s': took.length / seconds,
    'p50 ms': quantile(took, 0.5),
    'p99 ms': quantile(took, 0.99),
    'CPU µs each': each * 1e6,
  }
}
