import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https'
import { createServer as createTcpServer, type Server } from 'node:net'

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

const ED25519 = Buffer.from('300506032b6570', 'hex')

/** A certificate of nobody for nothing, which is enough for a client that does not look. */
function selfSigned(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const nobody = der(0x30)
  const validity = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')))
  const facts = der(
    0x30,
    der(0x02, Buffer.of(1)),
    ED25519,
    nobody,
    validity,
    nobody,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = der(0x03, Buffer.of(0), sign(null, facts, privateKey))
  const body = der(0x30, facts, ED25519, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
  }
}

/** One element of ASN.1; none here is longer than 65,535 bytes. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const { length } = Buffer.concat(parts)
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(tag, ...size), ...parts])
}
