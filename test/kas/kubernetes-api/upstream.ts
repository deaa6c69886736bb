import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { portOf } from '../../support/addresses.ts'
import { selfSigned } from '../../support/builders/certificate.ts'

/** A server behind the agent that is no Kubernetes API: it speaks what an API server would only with kubelets, or never would. */
export async function upstream(listener: RequestListener, onUpgrade?: (request: IncomingMessage, socket: Duplex) => void) {
  const server = createServer(selfSigned(), listener)
  const sockets = new Set<Duplex>()
  server.on('secureConnection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket)).on('error', () => undefined)
  })
  if (onUpgrade) server.on('upgrade', onUpgrade)
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const port = portOf(server)
  const folder = await mkdtemp(join(tmpdir(), 'berth-upstream-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    clusters: [{ name: 'x', cluster: { server: `https://127.0.0.1:${port}/below`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'x', user: { token: 'the-agent-s-own' } }],
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
  }
  await writeFile(kubeconfig, JSON.stringify(config))
  return {
    kubeconfig,
    get connections() {
      return sockets.size
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** A client that writes its request by hand and collects what comes. */
export function byHand(url: string, lines: string[]) {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const chunks: Buffer[] = []
  let hasEnded = false
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => undefined)
  socket.once('end', () => {
    hasEnded = true
  })
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return {
    socket,
    get text() {
      return Buffer.concat(chunks).toString('latin1')
    },
    get bytes() {
      return chunks.reduce((sum, { length }) => sum + length, 0)
    },
    get hasEnded() {
      return hasEnded || socket.destroyed
    },
  }
}
