import { createServer, type Socket } from 'node:net'
import type { Connection, ServerChannel } from 'ssh2'
import ssh2 from 'ssh2'
import {
  type Clock,
  type ConnectionLimits,
  createConnectionCounter,
  createLimiter,
  Failure,
  type Log,
  listenAt,
  networkOf,
  pause,
  plainAddress,
  seconds,
} from '../../std/index.ts'
import { channelOf, endingWith, MOST_UNREAD } from './channel.ts'
import type { SshDoor, SshLine, SshVisitor } from './door.ts'
import type { KeyPair } from './keys.ts'
import { awaitLogin } from './login.ts'
import { createPeople, type PersonLine } from './people.ts'
import { readingOf, type SocketReading } from './reading.ts'
import { followSession, type SessionFrame } from './session.ts'

export interface SshServer {
  address: string
  /** Takes no more connections, waits so long for those that are open, and cuts what is left. */
  stop(grace?: number): Promise<void>
}

interface SshOptions {
  /** `host:port`. */
  address: string
  hostKey: KeyPair
  door: SshDoor
  /** Of those that have not logged in yet. */
  beforeLogin: ConnectionLimits
  /** Many come from that address, of a load balancer: only the limit of all counts for it. */
  isShared(address: string): boolean
  /** Connections at once. */
  maxConnections: number
  clock: Clock
  log: Log
}

const LOGIN_WITHIN = seconds(30)
/** Of a connection; a session that never had a program counts until the connection ends, for the library keeps it. */
const MOST_CHANNELS = 128
/** Answers that a client does not read. */
const MOST_UNSENT = 4 * 2 ** 20

/** Of one network: each is a question to the one who judges them. */
const PASSWORDS = { burst: 30, perSecond: 1 }

const ALGORITHMS: ssh2.Algorithms = {
  kex: ['curve25519-sha256', 'curve25519-sha256@libssh.org', 'ecdh-sha2-nistp256', 'ecdh-sha2-nistp384', 'ecdh-sha2-nistp521'],
  serverHostKey: ['ssh-ed25519'],
  // Clients take chacha20 first where it is offered, which costs this process a third more.
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  // A little that is sent could become very much here.
  compress: ['none'],
}

/** A connection, from its first byte on. */
interface Arrival {
  from: string
  reading: SocketReading
  mayTry(): boolean
  /** It counts as one that has not logged in until then. */
  settle(): void
  gone: AbortController
  cut(): void
}

export async function serveSsh(options: SshOptions): Promise<SshServer> {
  const { address, hostKey, beforeLogin, isShared, maxConnections, clock, log } = options
  const waiting = createConnectionCounter(beforeLogin)
  const passwords = createLimiter(PASSWORDS, clock)
  const arrivals = new Map<Socket, Arrival>()
  const people = createPeople(clock)
  const engine = new ssh2.Server({
    hostKeys: [hostKey.secret.reveal()],
    algorithms: ALGORITHMS,
    ident: 'Berth',
    keepaliveInterval: seconds(30),
    keepaliveCountMax: 3,
  })
  engine.on('connection', (client) => {
    const socket = socketOf(client)
    const arrival = arrivals.get(socket)
    if (arrival) serve(client, { socket, arrival, people }, options)
    else client.end()
  })
  const listener = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: seconds(60) }, (socket) => {
    const from = plainAddress(socket.remoteAddress ?? '')
    const counted = isShared(from) ? `${from} ${socket.remotePort}` : from
    socket.on('error', () => socket.destroy())
    if (waiting.enter(counted)) return void socket.destroy()
    const reading = readingOf(socket)
    arrivals.set(
      socket,
      arrive(socket, {
        from,
        reading,
        clock,
        mayTry: () => passwords(networkOf(counted)) === 0,
        leave: () => waiting.leave(counted),
      }),
    )
    socket.once('close', () => arrivals.delete(socket))
    engine.injectSocket(socket)
    holdBack(socket, reading)
  })
  listener.maxConnections = maxConnections
  const bound = await listenAt(listener, address)
  log.info('SSH is served', { address: bound })
  return {
    address: bound,
    async stop(grace = 0) {
      const over = new AbortController()
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()))
      await Promise.race([closed, pause(clock, grace, over.signal)])
      over.abort()
      for (const { cut } of arrivals.values()) cut()
      await closed
    },
  }
}

const socketOf = (client: Connection): Socket => (client as unknown as { _sock: Socket })._sock // as: its types leave it out

function arrive(
  socket: Socket,
  { from, reading, mayTry, clock, leave }: Pick<Arrival, 'from' | 'reading' | 'mayTry'> & { clock: Clock; leave(): void },
): Arrival {
  const gone = new AbortController()
  let isWaiting = true
  const late = clock.after(LOGIN_WITHIN, () => socket.destroy())
  const settle = () => {
    if (!isWaiting) return
    isWaiting = false
    late()
    leave()
  }
  socket.once('close', () => {
    settle()
    gone.abort()
  })
  return { from, reading, mayTry, settle, gone, cut: () => void socket.destroy() }
}

/** The library answers whatever is asked, also a client that reads no answers. */
function holdBack(socket: Socket, reading: SocketReading): void {
  socket.on('data', () => {
    if (socket.writableLength <= MOST_UNSENT) return
    reading.hold('unsent')
    socket.once('drain', () => reading.release('unsent'))
  })
}

interface Accepted {
  socket: Socket
  arrival: Arrival
  people: ReturnType<typeof createPeople>
}

function serve(client: Connection, { socket, arrival, people }: Accepted, options: SshOptions): void {
  const { door, clock, log } = options
  const { from, mayTry, gone } = arrival
  const cut = () => {
    client.end()
    // The other side need not hang up.
    const cancel = clock.after(seconds(1), () => socket.destroy())
    socket.once('close', cancel)
  }
  arrival.cut = cut
  client.on('error', (error) => log.debug('An SSH connection failed', { from, error: Failure.from(error) }))
  const entered = (visitor: SshVisitor) => {
    if (gone.signal.aborted) return
    arrival.settle()
    const own = { socket, reading: arrival.reading, channels: new Set<ServerChannel>(), waiting: 0 }
    const isFull = people.enter(visitor.person, own)
    if (isFull) return follow(client, visitor, { own, isFull, line: { from, cut, closed: gone.signal } })
    log.info('Somebody has too many connections over SSH', { from, user: visitor.person })
    cut()
  }
  awaitLogin(client, { door, from, mayTry, cut, entered, log })
}

interface Followed {
  own: PersonLine
  /** The visitor has no place for another one, here or elsewhere. */
  isFull(): boolean
  line: SshLine
}

function follow(client: Connection, visitor: SshVisitor, { own, isFull, line }: Followed): void {
  const { socket, channels } = own
  const isTooMuch = () => channels.size + own.waiting >= MOST_CHANNELS || isFull()
  const frame: SessionFrame = {
    visitor,
    socket,
    gone: line.closed,
    follow(channel, over) {
      channels.add(channel)
      over.addEventListener('abort', () => channels.delete(channel), { once: true })
    },
  }
  socket.on('data', () => {
    for (const { readableLength } of channels) if (readableLength > MOST_UNREAD) socket.destroy()
  })
  visitor.entered(line)
  client.on('session', (accept, reject) => {
    if (isTooMuch()) return reject()
    const begun = waitWith(own)
    const session = accept()
    session.on('close', begun)
    followSession(session, {
      ...frame,
      follow(channel, over) {
        begun()
        frame.follow(channel, over)
      },
    })
  })
  client.on('tcpip', (accept, reject, { destIP, destPort }) => {
    const refuse = (reason: number, why: string) => refuseWith(client, { reject, reason, why })
    if (!LOOPBACK.has(destIP.toLowerCase())) {
      visitor.refused('a connection to another host')
      return refuse(PROHIBITED, 'only ports of the workspace itself, on localhost')
    }
    if (isTooMuch()) return reject()
    const over = endingWith(line.closed)
    const settle = waitWith(own)
    const open = () => {
      settle()
      const channel = accept()
      frame.follow(channel, over.signal)
      return channelOf(channel, socket, over)
    }
    const refused = (thrown: unknown) => refuse(NOT_CONNECTED, Failure.from(thrown).message)
    visitor.connect(destPort, open).catch(refused).finally(settle)
  })
  client.on('request', (_accept, reject, name) => {
    // Names of requests are few; the library lets no others come so far.
    if (!name.startsWith('cancel-')) visitor.refused(name.startsWith('tcpip') ? 'ports that lead back' : 'sockets that lead back')
    no(reject)
  })
}

/** A client may ask anew for what has begun: it waits until the first answer, and no more. */
function waitWith(own: PersonLine): () => void {
  let isWaiting = true
  own.waiting++
  return () => {
    if (isWaiting) own.waiting--
    isWaiting = false
  }
}

/** There is none where the client wants no answer, whatever the types say. */
const no = (reject: (() => void) | undefined): void => reject?.()

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])
/** Of RFC 4254: people are told the word for it, and why. */
const PROHIBITED = 1
const NOT_CONNECTED = 2

interface Refusal {
  reject(): void
  reason: number
  why: string
}

interface Protocol {
  channelOpenFail(recipient: number, reason: number, text: string): void
}

/** The library knows one reason only, and no words. */
function refuseWith(client: Connection, { reject, reason, why }: Refusal): void {
  const protocol = (client as unknown as { _protocol: Protocol })._protocol // as: its types leave it out
  const own = protocol.channelOpenFail
  protocol.channelOpenFail = (recipient) => own.call(protocol, recipient, reason, why.slice(0, 200))
  try {
    reject()
  } finally {
    protocol.channelOpenFail = own
  }
}
