import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https'
import { createServer as createTcpServer, type Server } from 'node:net'
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
  return {
    url: await listening(server),
    get seen() {
      return seen
    },
    close: () => closed(server),
  }
}

/** Answers with a text that has no end. */
export async function endlessServer(): Promise<StrangeServer> {
  let seen = 0
  const server = createTlsServer(selfSigned(), (_request, response) => {
    const more = () => {
      while (response.writable && response.write(FILLER)) seen++
    }
    response.on('drain', more).on('error', () => response.destroy())
    more()
  })
  return {
    url: await listening(server),
    get seen() {
      return seen
    },
    close: () => closed(server),
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
  return {
    url: await listening(server),
    get seen() {
      return seen
    },
    close: () => closed(server),
  }
}

/** Takes connections and says nothing, ever. */
export async function silentServer(): Promise<StrangeServer> {
  let seen = 0
  const server = createTcpServer((socket) => {
    seen++
    socket.on('error', () => socket.destroy())
    held.add(socket)
  })
  const held = new Set<{ destroy(): unknown }>()
  const close = () => {
    for (const socket of held) socket.destroy()
    return closed(server)
  }
  return {
    url: await listening(server),
    get seen() {
      return seen
    },
    close,
  }
}

const listening = (server: Server | HttpsServer): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const at = server.address()
      resolve(`https://127.0.0.1:${typeof at === 'object' ? at?.port : at}`)
    })
  })

const closed = (server: Server | HttpsServer): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
