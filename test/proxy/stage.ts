import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { WebSocketServer } from 'ws'
import type { Upstream } from '../../src/adapters/http/index.ts'
import type { Workspace } from '../../src/api/index.ts'
import { listen } from '../../src/std/listen.ts'
import { type TestCluster, testCluster } from '../support/control-plane.ts'
import { type IdentityProvider, identityProvider } from '../support/identity-provider.ts'
import { eventually } from '../support/verbs.ts'
import { type Browser, browser } from './browser.ts'
import { hostOf, publish, type RunningProxy, runProxy } from './running-proxy.ts'

/** A proxy, a provider, and an app that all workspaces of the stage have on their port. */
export interface Stage {
  cluster: TestCluster
  namespace: string
  provider: IdentityProvider
  proxy: RunningProxy
  /** What Services lead to. */
  homes: Map<string, Upstream>
  /** Where the app is, on 127.0.0.1. */
  appPort: number
  /** Connections that the app has from the proxy. */
  appConnections(): Promise<number>
  /** A workspace whose port leads to the app, once the proxy knows it. */
  workspace(name: string, how?: Parameters<typeof publish>[3]): Promise<Workspace>
  /** A browser in which that person has signed in, at that workspace. */
  signedIn(email: string, name: string, claims?: Record<string, unknown>, port?: number): Promise<Browser>
  browser(): Browser
  close(): Promise<void>
}

export type App = (request: IncomingMessage, response: ServerResponse) => void

type Flags = Record<string, string | boolean>

/** `flags` of the proxy, or what makes them in its namespace. Upgrades to WebSocket are echoed. */
export async function setStage(
  app: App,
  given: Flags | ((cluster: TestCluster, namespace: string) => Promise<Flags>) = {},
): Promise<Stage> {
  const cluster = testCluster()
  const homes = new Map<string, Upstream>()
  const [provider, namespace] = await Promise.all([identityProvider(), cluster.namespace('proxy')])
  const server = createServer(app)
  const sockets = new WebSocketServer({ noServer: true })
  const open = new Set<Duplex>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (line) =>
      line.on('message', (data, isBinary) => line.send(data, { binary: isBinary })),
    ),
  )
  const port = await listen(server, '127.0.0.1', 0)
  const flags = typeof given === 'function' ? await given(cluster, namespace) : given
  const proxy = await runProxy({ cluster, namespace, provider, homes, flags })
  const place = flags.tlsCert === undefined ? proxy.addresses.listen : overTls(proxy.addresses.listen)
  return {
    ...{ cluster, namespace, provider, proxy, homes, appPort: port },
    appConnections: async () => open.size,
    async workspace(name, how) {
      for (const { port: number } of how?.ports ?? [{ port: 3000 }])
        homes.set(`workspace-${name}:${number}`, { host: '127.0.0.1', port })
      const made = await publish(cluster.kube, namespace, name, how)
      const host = hostOf(name, how?.ports?.[0]?.port)
      // Through tunnels it is reached without a Service.
      await eventually(() => how?.wayIn === 'Tunnel' || proxy.leadsTo(made))
      await eventually(async () => (await browser(place).ask(`https://${host}/`)).status !== 404)
      return made
    },
    async signedIn(email, name, claims = {}, number?: number) {
      provider.signInAs({ sub: email, email, ...claims })
      const person = browser(place)
      await person.open(`https://${hostOf(name, number)}/`)
      return person
    },
    browser: () => browser(place),
    async close() {
      await proxy.stop()
      await provider.close()
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
      await cluster.close()
      if (typeof flags.tlsCert === 'string') await rm(dirname(flags.tlsCert), { recursive: true })
    },
  }
}

/** Whatever certificate it has: that is not what is tried. */
const overTls = (address: string) => () => {
  const [host, port] = address.split(':')
  return { createConnection: () => connectTls({ host, port: Number(port), rejectUnauthorized: false }) }
}
