import { gzipSync } from 'node:zlib'
import { is, match, ok } from 'uvu/assert'
import { type DialOptions, type Duplex, dial, type GrpcConnection } from '../../../src/adapters/grpc/index.ts'
import { Failure } from '../../../src/std/index.ts'
import { type GoServer, goPeer, goServer, lacksGoPeer } from '../../support/go-peer.ts'
import { describe } from '../../support/suite.ts'

type Raw = Duplex<Uint8Array, Uint8Array>

const SIZES = [0, 1, 16 << 10, 65_535, 65_536, 1 << 20, (4 << 20) - 16]

const allOf = async ({ responses }: Raw): Promise<Uint8Array[]> => {
  const all: Uint8Array[] = []
  for await (const one of responses) all.push(one)
  return all
}

const serverInGo: Parameters<typeof describe>[1] = (it) => {
  let server: GoServer
  let connection: GrpcConnection
  it.before(async () => {
    server = await goServer(await goPeer())
  })
  it.beforeEach(() => begin({}))
  it.afterEach(() => connection.close())
  it.after(() => server.stop())

  const begin = (options: Partial<DialOptions>) => {
    connection = dial({ address: `grpc://${server.address}`, ...options })
  }
  /** Each message after the answer to the one before. */
  const echo = async (path: string) => {
    const call = await connection.duplexRaw(path)
    const answers = call.responses[Symbol.asyncIterator]()
    for (const [at, size] of SIZES.entries()) {
      const sent = Buffer.alloc(size, at + 1)
      await call.send(sent)
      const { value } = await answers.next()
      ok(Buffer.from(value ?? [9]).equals(sent), `${size} bytes came back otherwise`)
    }
    call.closeSend()
    is((await answers.next()).done, true)
  }
  const notesOn = async (data: Uint8Array) => {
    const call = await connection.duplexRaw('/x.Notes/Take')
    await call.send(data)
    call.closeSend()
    return Buffer.concat(await allOf(call)).toString()
  }

  it('answers what was asked plainly', () => echo('/x.Echo/Echo'))

  it('is understood when it compresses its answers with gzip', () => echo('/x.Gzip/Echo'))

  it('gets what agents send as it is, and may know of it from the header', async () => {
    is(await notesOn(Buffer.alloc(100_000)), ' 100000/100000')
  })

  it('gets it with gzip where that was asked for, answers with it, and is understood', async () => {
    connection.close()
    begin({ gzip: true })
    const notes = await notesOn(Buffer.alloc(100_000))
    match(notes, /^gzip \d+\/100000$/)
    const [, sent] = /(\d+)\//.exec(notes) ?? []
    ok(Number(sent) < 2 * gzipSync(Buffer.alloc(100_000)).length, notes)
    await echo('/x.Echo/Echo')
  })

  it('cannot fill the memory of an agent with little that unpacks to much', async () => {
    const before = process.memoryUsage().arrayBuffers
    const call = await connection.duplexRaw('/x.Bomb/Burst')
    await call.send(Buffer.from('x'))
    const failure = await allOf(call).then(() => undefined, Failure.from)
    match(failure?.message ?? '', /decompresses to a size larger than/)
    ok(process.memoryUsage().arrayBuffers - before < 32 * 2 ** 20)
  })
}

/** gRPC for Go is what existing kas are made of: it answers in the encoding of the request. */
describe('a server in Go', serverInGo, await lacksGoPeer())
