import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request } from 'node:https'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { pause, systemClock } from '../../src/std/index.ts'
import { portOf } from './addresses.ts'

/** A way to the API server that can go bad. */
export interface BadLine {
  /** To be written into a kubeconfig in place of the server's own URL. */
  url: string
  close(): Promise<void>
}

export interface BlackHole extends BadLine {
  /** From now on nothing comes through, and nobody hears of it: connections stay open. They never come back to life. */
  swallow(): void
  /** New connections come through again. */
  forward(): void
  /** Connections that were swallowed and are still held open by the client. */
  readonly stuck: number
}

/** TCP as it is: what the client sends arrives, until the line swallows it, as a firewall does that forgot its connections. */
export async function blackHole(server: string): Promise<BlackHole> {
  const { hostname, port } = new URL(server)
  const open = new Map<Socket, Socket>()
  const dead = new Set<Socket>()
  let swallows = false
  const hang = (client: Socket, upstream: Socket) => {
    for (const end of [client, upstream]) end.unpipe().pause()
    dead.add(client)
  }
  const tcp = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    const end = () => {
      open.delete(client)
      dead.delete(client)
      client.destroy()
      upstream.destroy()
    }
    open.set(client, upstream)
    client.on('error', end).on('close', end)
    // What the server's end of a swallowed connection does, the client does not hear of.
    upstream.on('error', () => dead.has(client) || end()).on('close', () => dead.has(client) || end())
    client.pipe(upstream).pipe(client)
    if (swallows) hang(client, upstream)
  })
  return {
    url: `https://${await listening(tcp)}`,
    swallow() {
      swallows = true
      for (const [client, upstream] of open) hang(client, upstream)
    },
    forward() {
      swallows = false
    },
    get stuck() {
      return dead.size
    },
    async close() {
      for (const [client, upstream] of open) {
        client.destroy()
        upstream.destroy()
      }
      await closed(tcp)
    },
  }
}

/** What happens to one request on its way. */
export interface Trouble {
  /** Milliseconds before it is passed on. */
  delay?: number
  /** It is not passed on; this is answered. */
  status?: number
  headers?: Record<string, string>
  /** It is not passed on, and the connection ends. */
  isCut?: boolean
  /** It is passed on, and when it was answered the connection ends instead; called then. */
  lost?: () => void
}

/** HTTP as it is, but each request meets the trouble that `of` names. Watches count as requests. */
export async function slowLine(
  server: string,
  { ca, of }: { ca: string; of: (method: string, path: string) => Trouble },
): Promise<BadLine> {
  const http = createHttpServer((asked, answer) => {
    const { delay = 0, status, headers = {}, isCut, lost } = of(asked.method ?? '', asked.url ?? '')
    const go = () => {
      if (isCut) return void answer.destroy()
      if (status === undefined) return passOn(asked, answer, { server, ca, lost })
      answer.writeHead(status, { 'content-type': 'text/plain', ...headers }).end('etcdserver: request timed out')
    }
    void pause(systemClock, delay).then(go)
  })
  return {
    url: `http://${await listening(http)}`,
    async close() {
      http.closeAllConnections()
      await closed(http)
    },
  }
}

interface Onward {
  server: string
  ca: string
  lost: Trouble['lost'] | undefined
}

function passOn(asked: IncomingMessage, answer: ServerResponse, { server, ca, lost }: Onward): void {
  // Whoever has gone meanwhile does not say so again, and what he asked for would stay open.
  if (asked.socket.destroyed) return
  const { method, headers } = asked
  const on = request(new URL(asked.url ?? '', server), { method, headers, ca }, (given) => {
    if (lost) {
      answer.destroy()
      return lost()
    }
    answer.writeHead(given.statusCode ?? 502, given.headers)
    answer.flushHeaders()
    given.pipe(answer)
  })
  on.on('error', () => answer.destroy())
  answer.on('close', () => on.destroy())
  asked.pipe(on)
}

const listening = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`127.0.0.1:${portOf(server)}`))
  })

const closed = (server: Server): Promise<void> => new Promise((resolve) => void server.close(() => resolve()))
