import { once } from 'node:events'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { WebSocket } from 'ws'
import { freePort } from '../../../src/adapters/control-plane/index.ts'
import { lineBetween } from './line.ts'
import type { Site } from './site.ts'

/** What a page of a workspace answers through the proxy, whose certificate names the host of that workspace. */
export interface TerminalInBrowser {
  /** The page itself. */
  page(): Promise<string>
  /** Types a line, and gives what the terminal shows until that has a text in it. Without `origin` it is the page's own. */
  type(line: string, shown: string, origin?: string): Promise<string>
  close(): Promise<void>
}

const OUTPUT = '0'
const INPUT = '0'

/** A browser outside of the cluster with a terminal at this URL. See https://github.com/tsl0922/ttyd/blob/1.7.7/src/protocol.c. */
export async function openTerminal(site: Site, url: string): Promise<TerminalInBrowser> {
  const { host: servername } = new URL(url)
  const port = await freePort()
  const from = { enter: [], address: `127.0.0.1:${port}` }
  const line = await lineBetween(from, await site.serviceAt('proxy', 443), join(site.folder, 'proxy.sock'))
  const ca = await site.kubectl(...['get', 'secret', '-n', site.namespace, 'berth-proxy-tls', '-o'], 'jsonpath={.data.ca\\.crt}')
  const createConnection = () => connect({ host: '127.0.0.1', port, servername, ca: Buffer.from(ca, 'base64').toString() })
  const open = async (origin: string) => {
    const socket = new WebSocket(new URL('ws', url).href, ['tty'], { createConnection, headers: { origin } })
    await once(socket, 'open')
    return socket
  }
  return {
    async page() {
      const socket = createConnection()
      socket.end(`GET / HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`)
      return (await socket.toArray()).join('')
    },
    async type(text, shown, origin = `https://${servername}`) {
      const socket = await open(origin)
      let all = ''
      try {
        const done = new Promise<void>((resolve, reject) => {
          socket.on('close', () => reject(new Error(`the terminal was closed after: ${all}`)))
          socket.on('message', (data: Buffer) => {
            const message = data.toString()
            if (message.startsWith(OUTPUT)) all += message.slice(1)
            if (all.includes(shown)) resolve()
          })
        })
        socket.send(JSON.stringify({ AuthToken: '', columns: 80, rows: 24 }))
        socket.send(`${INPUT}${text}\r`)
        await done
        return all
      } finally {
        socket.terminate()
      }
    },
    close: () => line.stop(),
  }
}
