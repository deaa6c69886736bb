import { Agent, createServer, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { WebSocketServer } from 'ws'
import type { Upstream } from '../../../src/adapters/http/index.ts'
import { listen } from '../../../src/std/listen.ts'
import { runKas } from '../../../test/kas/running-kas.ts'
import { browser } from '../../../test/proxy/browser.ts'
import { runProxy } from '../../../test/proxy/running-proxy.ts'
import { testCluster } from '../../../test/support/control-plane.ts'
import { identityProvider } from '../../../test/support/identity-provider.ts'
import { eventually } from '../../../test/support/verbs.ts'
import { say, untilTheEnd } from '../part.ts'

export const MEGABYTE = 2 ** 20
const LOCAL = '127.0.0.1'

/** Of `host:port`. */
export function placeOf(address: string): { host: string; port: number } {
  const [host = '', port] = address.split(':')
  return { host, port: Number(port) }
}

/** The processes of the bench. Each says in lines of JSON on its output what there is to say, and ends with its input. */
export const PARTS: Record<string, (given: string[]) => Promise<void>> = { app, pipe, peer, kas, proxy }

/** What is behind every port: a word, a megabyte, what was sent, and an echo over WebSocket. */
async function app(): Promise<void> {
  const large = Buffer.alloc(MEGABYTE, 'x')
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') response.end(String((await buffer(request)).length))
    else response.end(request.url === '/large' ? large : 'hello')
  })
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (line) =>
      line.on('message', (data, isBinary) => line.send(data, { binary: isBinary })),
    ),
  )
  say({ address: `${LOCAL}:${await listen(server, LOCAL, 0)}` })
  await untilTheEnd()
}

/** The floor: Node's own server and client, joined. It knows nobody and forbids nothing. */
async function pipe([to = '']: string[]): Promise<void> {
  const { host, port } = placeOf(to)
  const agent = new Agent({ keepAlive: true })
  const server = createServer((request, response) => {
    const { method, url, headers } = request
    const onward = httpRequest({ host, port, method, path: url, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    if (method === 'GET') onward.end()
    else request.pipe(onward)
  })
  server.on('upgrade', ({ method, url, rawHeaders }, near, first) => {
    const far = connect({ host, port, noDelay: true })
    const lines = rawHeaders.flatMap((word, at) => (at % 2 === 0 ? [`${word}: ${rawHeaders[at + 1]}\r\n`] : []))
    far.write(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`)
    far.write(first)
    near.pipe(far).pipe(near)
    for (const end of [near, far]) end.on('error', () => [near, far].map((one) => one.destroy()))
  })
  say({ address: `${LOCAL}:${await listen(server, LOCAL, 0)}` })
  await untilTheEnd()
}

/** A peer, with one route, to which it lets everybody. */
async function peer([to = '', module = '']: string[]): Promise<void> {
  const { ConfigurableProxy } = await import(module)
  const quiet = () => undefined
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const { proxyServer } = new ConfigurableProxy({ defaultTarget: `http://${to}`, log })
  say({ address: `${LOCAL}:${await listen(proxyServer, LOCAL, 0)}` })
  await untilTheEnd()
}

/** What the bench wants of the proxy's process, besides the proxy. */
export type Wish =
  | { wish: 'home'; name: string; address: string }
  | { wish: 'cookie'; host: string; email: string }
  | { wish: 'heap' }

/** Where pods of workspaces open tunnels for the proxy. */
async function kas([namespace = '']: string[]): Promise<void> {
  const { kubeconfig } = testCluster()
  const { addresses } = await runKas({ kubeconfig, namespace, flags: { proxy: `${namespace}/proxy`, logLevel: 'error' } })
  say({ address: addresses.listen })
  await untilTheEnd()
}

/** The proxy in the namespace, with kas and a file with its token for that, and the organisation's identity provider beside it. */
async function proxy([namespace = '', kasAddress = '', kasToken = '']: string[]): Promise<void> {
  const [cluster, provider] = [testCluster(), await identityProvider()]
  const homes = new Map<string, Upstream>()
  const flags = { kas: kasAddress, kasToken }
  const { addresses } = await runProxy({ cluster, namespace, provider, homes, flags, keepsLog: false })
  const answer = async (wish: Wish): Promise<Record<string, string | number>> => {
    if (wish.wish === 'heap') {
      globalThis.gc?.()
      return { heap: process.memoryUsage().heapUsed / MEGABYTE }
    }
    if (wish.wish === 'home') {
      homes.set(`workspace-${wish.name}:3000`, placeOf(wish.address))
      return {}
    }
    provider.signInAs({ sub: wish.email, email: wish.email })
    const person = browser(addresses.listen)
    await eventually(async () => (await person.open(`https://${wish.host}/`)).status !== 404)
    return { cookie: person.cookies(wish.host) }
  }
  say({ address: addresses.listen })
  await untilTheEnd((line) => void answer(JSON.parse(line)).then(say))
}
