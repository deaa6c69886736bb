import { once } from 'node:events'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { WebSocket } from 'ws'
import { freePort, NODE_ADDRESS } from '../../../src/adapters/control-plane/index.ts'
import { type Browser, browser } from '../../proxy/browser.ts'
import { type IdentityProvider, identityProvider } from '../../support/identity-provider.ts'
import { type End, lineBetween } from './line.ts'
import type { Site } from './site.ts'

/** What is outside of the cluster, where people are: an identity provider, and their way to the proxy. */
export interface Outside {
  provider: IdentityProvider
  /** The port of the machine that leads to the proxy, once it runs. */
  leadToProxy(): Promise<void>
  /** Of somebody who has not signed in yet. */
  browser(): Promise<Browser>
  /** The terminal at this URL, in a page of `origin`. */
  openTerminal(person: Browser, url: string, origin?: string): Promise<Terminal>
  close(): Promise<void>
}

export interface Terminal {
  /** Types a line, and gives what the terminal shows until that has a text in it. */
  type(line: string, shown: string): Promise<string>
  close(): void
}

/** The node reaches the provider here. */
export const ISSUER = `${NODE_ADDRESS}:8443`

/** Between pods of a site and what is outside of it. */
export interface Lines {
  /** Pods reach the provider on this port of the machine as ISSUER. */
  leadToProvider(port: number): Promise<void>
  /** A port of the machine leads to this one of the proxy. */
  leadToProxy(port: number, to: number): Promise<void>
  stop(): Promise<void>
}

export function linesOf(site: Site): Lines {
  const { enter } = site.cluster()
  const lines: Awaited<ReturnType<typeof lineBetween>>[] = []
  const lead = async (from: End, to: End, name: string) => {
    lines.push(await lineBetween(from, to, join(site.folder, `${name}.sock`)))
  }
  const here = (port: number): End => ({ enter: [], address: `127.0.0.1:${port}` })
  return {
    leadToProvider: (port) => lead({ enter, address: ISSUER }, here(port), 'provider'),
    leadToProxy: async (port, to) => lead(here(port), await site.serviceAt('proxy', to), `proxy-${to}`),
    async stop() {
      for (const line of lines) await line.stop()
    },
  }
}

export async function startOutside(site: Site): Promise<Outside> {
  const { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca } = site.tls
  const provider = await identityProvider({ tls: { cert, key }, issuer: `https://${ISSUER}` })
  const lines = linesOf(site)
  await lines.leadToProvider(provider.port)
  const port = await freePort()

  /** By the certificates of whom somebody outside trusts: the provider's, and what the proxy shows. */
  const reach = async () => {
    const trusted = [ca, await site.authorityIn('berth-proxy-tls')]
    return ({ host, hostname }: URL) =>
      host === ISSUER
        ? connect({ host: '127.0.0.1', port: provider.port, ca: trusted })
        : connect({ host: '127.0.0.1', port, servername: hostname, ca: trusted })
  }
  return {
    provider,
    leadToProxy: () => lines.leadToProxy(port, 443),
    async browser() {
      const connected = await reach()
      return browser((url) => ({ createConnection: () => connected(url) }))
    },
    async openTerminal(person, url, origin = new URL(url).origin) {
      const connected = await reach()
      const headers = { origin, cookie: person.cookies(new URL(url).host) }
      const createConnection = () => connected(new URL(url))
      const socket = new WebSocket(new URL('ws', url).href, ['tty'], { createConnection, headers })
      await once(socket, 'open')
      socket.send(JSON.stringify({ AuthToken: '', columns: 80, rows: 24 }))
      return terminalOf(socket)
    },
    async close() {
      await lines.stop()
      await provider.close()
    },
  }
}

const OUTPUT = '0'
const INPUT = '0'

/** The protocol of ttyd: the first byte says what a message is. See https://github.com/tsl0922/ttyd/blob/1.7.7/src/protocol.c. */
function terminalOf(socket: WebSocket): Terminal {
  let all = ''
  const shows = (text: string) =>
    new Promise<string>((resolve, reject) => {
      socket.on('message', () => all.includes(text) && resolve(all))
      socket.on('close', () => reject(new Error(`the terminal was closed after ${JSON.stringify(all)}`)))
    })
  socket.on('message', (data: Buffer) => {
    const message = data.toString()
    if (message.startsWith(OUTPUT)) all += message.slice(1)
  })
  return {
    type(line, shown) {
      socket.send(`${INPUT}${line}\r`)
      return shows(shown)
    },
    close: () => socket.terminate(),
  }
}
