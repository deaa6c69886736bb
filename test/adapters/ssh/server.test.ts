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
    ping(): void
  }
}

describe('a server of SSH with clients that keep to no rule', (it) => {
  let server: SshServer
  let program: (channel: SshChannel) => void = () => undefined
  const refused: string[] = []
  const visitor: SshVisitor = {
    entered: () => undefined,
    run: (_program, channel) => program(channel),
    connect: (_port, accept) => Promise.resolve(program(accept())),
    refused: (what) => refused.push(what),
  }
  const own = createKeyPair()
  it.before(async () => {
    server = await serveSsh({
      address: '127.0.0.1:0',
      hostKey: createKeyPair(),
      door: { takesKey: () => true, byKey: (user) => (user === 'web.team-a' ? visitor : undefined) },
      beforeLogin: { connections: 20, connectionsPerAddress: 4 },
      isShared: () => false,
      maxConnections: 100,
      clock: systemClock,
      log: silentLog,
    })
  })
  it.after(() => server.stop())

  const connect = async (): Promise<Client & Raw> => {
    const client = new ssh2.Client()
    client.on('error', () => undefined)
    const [host = '', port] = server.address.split(':')
    client.connect({ host, port: Number(port), username: 'web.team-a', privateKey: own.secret.reveal() })
    await once(client, 'ready')
    return client as Client & Raw // as: its types leave out what is its own
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
    const client = await connect()
    const opened = await Promise.allSettled(Array.from({ length: 140 }, () => run(client)))
    is(opened.filter(({ status }) => status === 'fulfilled').length, 128)
    client.end()
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
