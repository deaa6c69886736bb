import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { portOf } from '../addresses.ts'
import { selfSigned } from './certificate.ts'

/** A server at the other end of an API URL that is no Kubernetes API. */
export interface StrangeServer {
  url: string
  /** Requests or connections so far. */
  readonly seen: number
  close(): Promise<void>
}

/** Answers every request with this status, and with the caller's own credentials in the text, as a malicious one would. */
export const echoingServer = (status: number): Promise<StrangeServer> =>
  answeringServer(({ headers }, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ kind: 'Status', message: `you sent ${headers.authorization}`, reason: `${headers.authorization}` }),
    )
  })

/** Answers with a text that has no end; what is seen are its blocks of 64 KiB. */
export async function endlessServer(status = 200): Promise<StrangeServer> {
  let blocks = 0
  const { url, close } = await answeringServer((_, response) => {
    response.writeHead(status)
    const more = () => {
      while (response.writable && response.write(FILLER)) blocks++
    }
    response.on('drain', more).on('error', () => response.destroy())
    more()
  })
  return {
    url,
    close,
    get seen() {
      return blocks
    },
  }
}

const FILLER = Buffer.alloc(2 ** 16, ' ')

/** Answers every request with this text. */
export const tellingServer = (text: string): Promise<StrangeServer> => answeringServer((_, response) => response.end(text))

/** Answers every request in this way. */
export const answeringServer = (answer: RequestListener): Promise<StrangeServer> =>
  counting((told) => createTlsServer(selfSigned(), told(answer)))

/** The same without TLS, for whoever asks for what is no API. */
export const plainServer = (answer: RequestListener): Promise<StrangeServer> =>
  counting((told) => createServer(told(answer)), 'http')

/** Takes connections and says nothing, ever. */
export const silentServer = (): Promise<StrangeServer> =>
  counting((told) => createTcpServer(told((socket: Socket) => socket.on('error', () => socket.destroy()))))

/** Serves with what `serverOf` makes of a listener that is told, and counts how often that is. */
async function counting(
  serverOf: (told: <Of extends unknown[]>(listener: (...of: Of) => unknown) => (...of: Of) => void) => Server | HttpsServer,
  scheme = 'https',
): Promise<StrangeServer> {
  let seen = 0
  const server = serverOf((listener) => (...of) => {
    seen++
    listener(...of)
  })
  const held = connectionsTo(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `${scheme}://127.0.0.1:${portOf(server)}`,
    get seen() {
      return seen
    },
    close: () => closed(server, held),
  }
}

/** Who is connected, also before a handshake that may never end. */
function connectionsTo(server: Server | HttpsServer): Set<Socket> {
  const held = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    held.add(socket)
    socket.on('close', () => held.delete(socket))
  })
  return held
}

const closed = (server: Server | HttpsServer, held: Set<Socket>): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    for (const socket of held) socket.destroy()
  })
