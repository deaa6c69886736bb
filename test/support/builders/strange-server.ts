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
export async function echoingServer(status: number): Promise<StrangeServer> {
  let seen = 0
  const server = createTlsServer(selfSigned(), ({ headers }, response) => {
    seen++
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ kind: 'Status', message: `you sent ${headers.authorization}`, reason: `${headers.authorization}` }),
    )
  })
  const held = connectionsTo(server)
  return {
    url: await listening(server),
    get seen() {
      return seen
    },
    close: () => closed(server, held),
  }
}

/** Answers with a text that has no end. */
export async function endlessServer(status = 200): Promise<StrangeServer> {
  let seen = 0
  const server = createTlsServer(selfSigned(), (_request, response) => {
    response.writeHead(status)
    const more = () => {
      while (response.writable && response.write(FILLER)) seen++
    }
    response.on('drain', more).on('error', () => response.destroy())
    more()
  })
  const held = connectionsTo(server)
  return {
    url: await listening(server),
    get seen() {
      return seen
    },
    close: () => closed(server, held),
  }
}

const FILLER = Buffer.alloc(2 ** 16, ' ')

/** Answers every request with this text. */
export async function tellingServer(text: string): Promise<StrangeServer> {
  let seen = 0
  const server = createTlsServer(selfSigned(), (_request, response) => {
    seen++
    response.end(text)
  })
  const held = connectionsTo(server)
  return {
    url: await listening(server),
    get seen() {
      return seen
    },
    close: () => closed(server, held),
  }
}

/** Takes connections and says nothing, ever. */
export async function silentServer(): Promise<StrangeServer> {
  let seen = 0
  const server = createTcpServer((socket) => {
    seen++
    socket.on('error', () => socket.destroy())
  })
  const held = connectionsTo(server)
  return {
    url: await listening(server),
    get seen() {
      return seen
    },
    close: () => closed(server, held),
  }
}

const listening = (server: Server | HttpsServer): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`https://127.0.0.1:${portOf(server)}`))
  })

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
