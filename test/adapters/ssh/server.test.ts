import { once } from 'node:events'
import { connect as dial, type Socket } from 'node:net'
import ssh2, { type Client, type ClientChannel } from 'ssh2'
import { equal, is, ok } from 'uvu/assert'
import { createKeyPair, type SshChannel, type SshServer, type SshVisitor, serveSsh } from '../../../src/adapters/ssh/index.ts'
import { silentLog, systemClock } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const MIB = 2 ** 20

/** What the library sends, whatever the rules of the protocol say. */
interface Raw {
  _sock: Socket
  _protocol: {
    channelData(recipient: number, data: Buffer): void
    channelWindowAdjust(recipient: number, amount: number): void
    exec(recipient: number, command: string, wantsReply: boolean): void
    ping(): void
  }
}

describe('a server of SSH with clients that keep to no rule', (it) => {
  let server: SshServer
  let program: (channel: SshChannel) => void = () => undefined
  const refused: string[] = []
  /** Connections to ports. */
  let asked = 0
  const visitor: SshVisitor = {
    person: 'mallory',
    entered: () => undefined,
    run: (_program, channel) => program(channel),
    connect: async (port, accept) => {
      asked++
      if (port === 1) await new Promise(() => undefined)
      program(accept())
    },
    refused: (what) => refused.push(what),
  }
  const own = createKeyPair()
  it.before(async () => {
    server = await serveSsh({
      address: '127.0.0.1:0',
      hostKey: createKeyPair(),
      door: {
        takesKey: () => true,
        byKey: (user) => (user === 'nobody' ? undefined : { ...visitor, person: user }),
      },
      beforeLogin: { connections: 20, connectionsPerAddress: 4 },
      isShared: () => false,
      maxConnections: 100,
      clock: systemClock,
      log: silentLog,
    })
  })
  it.after(() => server.stop())

  const begin = (username = 'web.team-a'): Client & Raw => {
    const client = new ssh2.Client()
    client.on('error', () => undefined)
    const [host = '', port] = server.address.split(':')
    client.connect({ host, port: Number(port), username, privateKey: own.secret.reveal() })
    return client as Client & Raw // as: its types leave out what is its own
  }
  const connect = async (username?: string): Promise<Client & Raw> => {
    const client = begin(username)
    await once(client, 'ready')
    return client
  }
  const run = (client: Client): Promise<ClientChannel> => {
    const { promise, resolve, reject } = Promise.withResolvers<ClientChannel>()
    client.exec('a command', (error, channel) => (error ? reject(error) : resolve(channel)))
    return promise
  }
  /** Not by `once`, which an error before it would end. */
  const endOf = (client: Client) => new Promise<void>((resolve) => client.once('close', () => resolve()))
  const idOf = (channel: ClientChannel): number => (channel as unknown as { outgoing: { id: number } }).outgoing.id

  it('reads no more than a program takes, and hangs up on a client that sends on', async () => {
    const channels: SshChannel[] = []
    program = (begun) => void channels.push(begun)
    const client = await connect()
    const id = idOf(await run(client))
    const closed = endOf(client)
    // The library takes no more at a window of exactly nothing, and these never leave one.
    for (let sent = 0; sent < 2000 && !client._sock.destroyed; sent++) {
      client._protocol.channelData(id, Buffer.alloc(30_000))
      if (sent % 30 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await closed
    ok(channels[0]?.closed.aborted)
  })

  it('writes no more than a client reads, whatever it says that it would take', async () => {
    let written = 0
    program = async (begun) => {
      while (!begun.closed.aborted) {
        await begun.write(Buffer.alloc(MIB / 4))
        written += MIB / 4
      }
    }
    const client = await connect()
    const channel = await run(client)
    client._sock.pause()
    client._protocol.channelWindowAdjust(idOf(channel), 2 ** 31)
    let before = -1
    await eventually(() => {
      const isSame = written === before
      before = written
      return written > MIB && isSame
    })
    ok(written < 64 * MIB, `${written / MIB} MiB`)
    client._sock.destroy()
  })

  it('gives both outputs of a program in full, with a client that takes little at a time', async () => {
    program = async (begun) => {
      const all = Array.from({ length: 40 }, (_, at) =>
        begun.write(Buffer.alloc(MIB / 4, at), at % 2 === 0 ? 'stdout' : 'stderr'),
      )
      await Promise.all(all)
      begun.end(3)
    }
    const client = await connect()
    const channel = await run(client)
    const seen = { stdout: '', stderr: '' }
    const take = (from: 'stdout' | 'stderr', chunk: Buffer) => {
      for (const byte of new Set(chunk)) if (!seen[from].endsWith(` ${byte}`)) seen[from] += ` ${byte}`
    }
    let bytes = 0
    for (const [from, stream] of [['stdout', channel] as const, ['stderr', channel.stderr] as const])
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        take(from, chunk)
        stream.pause()
        setImmediate(() => stream.resume())
      })
    const [code] = await once(channel, 'exit')
    // It tells the end of one output before it has given all of the other.
    await eventually(() => bytes === 10 * MIB)
    const even = Array.from({ length: 20 }, (_, at) => ` ${2 * at}`).join('')
    const odd = Array.from({ length: 20 }, (_, at) => ` ${2 * at + 1}`).join('')
    equal([code, bytes, seen], [3, 10 * MIB, { stdout: even, stderr: odd }])
    client.end()
  })

  it('lets in so many of one address that have not logged in, and again when they are gone', async () => {
    const [host = '', port] = server.address.split(':')
    const sockets = Array.from({ length: 6 }, () =>
      dial(Number(port), host)
        .on('error', () => undefined)
        .resume(),
    )
    let open = 6
    for (const socket of sockets) socket.once('close', () => open--)
    await eventually(() => open === 4)
    for (const socket of sockets) socket.destroy()
    await eventually(() => open === 0)
    await eventually(async () => {
      const client = await connect()
      client.end()
      return true
    })
  })

  it('opens so many channels of one connection, and no more', async () => {
    program = () => undefined
    const client = await connect('many-channels')
    const opened = await Promise.allSettled(Array.from({ length: 140 }, () => run(client)))
    is(opened.filter(({ status }) => status === 'fulfilled').length, 128)
    client.end()
  })

  it('counts a session as begun once, whatever else a client asks for in it', async () => {
    program = () => undefined
    const client = await connect('again-and-again')
    let begun = 0
    for (let at = 0; at < 140; at++) {
      const channel = await run(client).catch(() => undefined)
      if (!channel) continue
      begun++
      // A second program in the session: it is not begun, and makes no room for another one.
      const { outgoing } = channel as unknown as { outgoing: { id: number } } // as: its types leave it out
      for (let again = 0; again < 3; again++) client._protocol.exec(outgoing.id, 'another', false)
    }
    is(begun, 128)
    client.end()
  })

  it('takes no more of one person than is read, by however many channels and connections it comes', async () => {
    const begun: SshChannel[] = []
    program = (channel) => void begun.push(channel)
    const clients: (Client & Raw)[] = []
    for (let at = 0; at < 3; at++) clients.push(await connect('unread'))
    const channels = await Promise.all(clients.flatMap((client) => Array.from({ length: 20 }, () => run(client))))
    // As much as each window lets them send.
    for (const channel of channels) channel.write(Buffer.alloc(2 * MIB))
    const left = () => clients.reduce((sum, client) => sum + client._sock.writableLength, 0)
    let last = { left: -1, looks: 0 }
    await eventually(() => {
      last = left() === last.left ? { ...last, looks: last.looks + 1 } : { left: left(), looks: 0 }
      return last.looks === 12
    })
    ok(left() > 40 * MIB, `of 120 MiB ${left() / MIB} are held back`)
    // Nobody else waits for it, nor does a program of the same person that takes what it gets.
    const heard: Uint8Array[] = []
    program = async ({ input }) => {
      for await (const bytes of input) heard.push(bytes)
    }
    for (const other of [await connect('another'), await connect('unread')]) {
      clients.push(other)
      ;(await run(other)).write('hello')
    }
    await eventually(() => heard.length === 2)
    // What was held back comes when the programs take it.
    let taken = 0
    for (const { input } of begun)
      void (async () => {
        for await (const bytes of input) taken += bytes.length
      })()
    await eventually(() => taken === 120 * MIB)
    for (const client of clients) client.end()
  })

  it('lets in so many connections of one person', async () => {
    const clients: Client[] = []
    let ended = 0
    for (let at = 0; at < 40; at++) {
      const client = begin('many-connections')
      clients.push(client)
      client.once('close', () => ended++)
      await new Promise<void>((resolve) => client.once('close', () => resolve()).once('ready', () => resolve()))
    }
    await eventually(() => ended === 8)
    ;(await connect('another')).end()
    for (const client of clients) client.end()
    await eventually(() => ended === 40)
  })

  it('asks for so many ports at once, also where nothing answers yet', async () => {
    const client = await connect('many-ports')
    const before = asked
    let failed = 0
    for (let at = 0; at < 200; at++) client.forwardOut('localhost', 1, 'localhost', 1, (error) => void (error && failed++))
    await eventually(() => failed === 72)
    is(asked - before, 128)
    const closed = endOf(client)
    client.end()
    await closed
  })

  it('opens so many channels of one person, by however many connections', async () => {
    program = () => undefined
    const clients: Client[] = []
    let fulfilled = 0
    for (let at = 0; at < 3; at++) {
      const client = await connect('everywhere')
      clients.push(client)
      const opened = await Promise.allSettled(Array.from({ length: 100 }, () => run(client)))
      fulfilled += opened.filter(({ status }) => status === 'fulfilled').length
    }
    is(fulfilled, 256)
    const other = await connect('another')
    await run(other)
    for (const client of [...clients, other]) client.end()
  })

  it('ends when what is open has ended, or its time is over', async () => {
    program = () => undefined
    const client = await connect()
    await run(client)
    const closed = endOf(client)
    await server.stop(100)
    await closed
  })
})
