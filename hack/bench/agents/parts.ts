import { readFile } from 'node:fs/promises'
import { createServer as createHttpServer, request } from 'node:http'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { dial, type GrpcConnection, objectStreamOver, offerRaw, serveGrpc } from '../../../src/adapters/grpc/index.ts'
import { followConfiguration, register } from '../../../src/agent/kas/index.ts'
import { serveTunnels, type TunnelHandler } from '../../../src/engines/tunnel/index.ts'
import { encodeResponse } from '../../../src/rpc/index.ts'
import { createLog, Failure, Secret, systemClock } from '../../../src/std/index.ts'
import { quantile, since } from '../figures.ts'
import { say, untilTheEnd, wallClock } from '../part.ts'

const ANYWHERE = '127.0.0.1:0'
const FLOOR = '/bench.Floor/Push'
const METHOD = '/gitlab.agent.kubernetes_api.rpc.KubernetesApi/MakeRequest'
const around = { clock: systemClock, log: createLog('error', process.stderr) }
const signal = new AbortController().signal

/** The processes of the bench. Each says in lines of JSON on its output what there is to say, and ends with its input. */
export const PARTS: Record<string, (given: string[]) => Promise<void>> = { agents, front, pusher, relay, source }

/**
 * Many agents in one process, by turns at each of the addresses, each with a connection of its own and with all that Berth's agent
 * has open there while it is at rest.
 * `connect`: all of them, and says when each has a configuration. `follow`: the repository. `floor ADDRESS`: the pusher instead.
 * `next`: says when the first, half and the last of them had what was sent next.
 */
async function agents([list = '', file = '', projectId = '']: string[]): Promise<void> {
  const addresses = list.split(',')
  const tokens: string[] = JSON.parse(await readFile(file, 'utf8'))
  const connections: GrpcConnection[] = []
  const all = <T>(work: (token: string, at: number) => Promise<T>) => inBatches(tokens, work)
  let rounds = createRounds(tokens.length)
  const commands: Record<string, (given: string) => Promise<void>> = {
    async connect() {
      const began = performance.now()
      await all(async (token, at) => {
        const address = addresses[at % addresses.length] ?? ''
        connections[at] = dial({ address, token: async () => new Secret(token), userAgent: nameOf(at), everyAddress: true })
        await rest(connections[at], at)
      })
      say({ seconds: since(began) })
    },
    async follow() {
      rounds = createRounds(tokens.length)
      for (const [at, connection] of connections.entries()) {
        const wanted = { projectId, ref: { kind: 'default' as const }, globs: ['**'] }
        void objectStreamOver(connection, systemClock, true).follow(wanted, { onBatch: () => rounds.took(at), signal })
      }
      say(await rounds.next())
    },
    async floor(given) {
      rounds = createRounds(tokens.length)
      await all(async (_, at) => {
        const call = await dial({ address: given, userAgent: nameOf(at) }).duplexRaw(FLOOR)
        listen(call.responses, () => rounds.took(at)).catch(() => undefined)
        await call.header
      })
      say({})
    },
    next: async () => say(await rounds.next()),
  }
  say({})
  await untilTheEnd((line) => {
    const [word = '', given = ''] = line.split(' ')
    void commands[word]?.(given)
  })
}

/** Who has another name gets a connection of his own. */
const nameOf = (at: number): string => `berth-agent/bench-${at}`

async function listen(responses: AsyncIterable<Uint8Array>, onEach: () => void): Promise<void> {
  for await (const _ of responses) onEach()
}

/** As many at once as come when a cluster starts again. */
const BATCH = 50

async function inBatches<T, R>(list: readonly T[], work: (one: T, at: number) => Promise<R>): Promise<void> {
  for (let from = 0; from < list.length; from += BATCH)
    await Promise.all(list.slice(from, from + BATCH).map((one, at) => work(one, from + at)))
}

/** All that an agent does that has nothing to do. */
function rest(connection: GrpcConnection, at: number): Promise<void> {
  const meta = { version: 'v0.0.0', commitId: '', podNamespace: 'agents', podName: `pod-${at}` }
  void serveTunnels({ connection, services: new Map([[METHOD, answerSmall]]), signal, ...around })
  const kube = { read: () => Promise.reject(new Failure('unavailable', 'there is no cluster')) }
  void register({ connection, kube, meta, podId: BigInt(at), ...around }, signal)
  const reports = { configuration: () => undefined, again: () => undefined }
  return new Promise((resolve) => {
    const ears = { onKnown: () => resolve(), onTrouble: () => undefined }
    void followConfiguration({ connection, reports, followers: [], meta, ...ears, ...around }, signal)
  })
}

const JSON_HEADERS = { 'Content-Type': ['application/json'] }
const ANSWER = [
  encodeResponse({ kind: 'head', head: { status: 200, reason: 'OK', headers: JSON_HEADERS } }),
  encodeResponse({ kind: 'data', data: Buffer.from('{"gitVersion":"v1.36.0"}') }),
  encodeResponse({ kind: 'trailer' }),
]

const answerSmall: TunnelHandler = async function* (requests) {
  for await (const _ of requests);
  yield* ANSWER
}

/** When each of so many has taken something for the n-th time. */
function createRounds(count: number) {
  const taken = Array.from({ length: count }, () => 0)
  const rounds: { at: number[]; done: PromiseWithResolvers<number[]> }[] = []
  let asked = 0
  const round = (n: number) => {
    const known = rounds[n] ?? { at: [], done: Promise.withResolvers<number[]>() }
    rounds[n] = known
    return known
  }
  return {
    took(who: number) {
      const n = taken[who] ?? 0
      taken[who] = n + 1
      const { at, done } = round(n)
      if (at.push(wallClock()) === count) done.resolve(at)
    },
    async next() {
      const at = await round(asked++).done.promise
      return { first: Math.min(...at), half: quantile(at, 0.5), most: quantile(at, 0.99), last: Math.max(...at) }
    },
  }
}

/** Balancers of connections, as many as there are servers: each has another one as its first choice, and goes on to the next. */
async function front(backends: string[]): Promise<void> {
  const pass = (client: Socket, [backend = '', ...others]: string[]) => {
    const [host = '', port] = backend.split(':')
    const server = connect({ host, port: Number(port), noDelay: true })
    let hasBegun = false
    server.once('connect', () => {
      hasBegun = true
      client.pipe(server).pipe(client)
      client.once('close', () => server.destroy())
      server.once('close', () => client.destroy())
    })
    server.on('error', () => {
      if (!hasBegun && others.length > 0) pass(client, others)
      else client.destroy()
    })
  }
  const addresses = backends.map((_, first) => {
    const order = [...backends.slice(first), ...backends.slice(0, first)]
    const server = createServer({ noDelay: true }, (client) => {
      client.on('error', () => undefined)
      pass(client, order)
    })
    return listenOn(server)
  })
  say({ address: (await Promise.all(addresses)).join() })
  await untilTheEnd()
}

const listenOn = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
      const address = server.address()
      resolve(`127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`)
    })
  })

/** The floor of a push: so many bytes to whoever is there. */
async function pusher(): Promise<void> {
  let bell = Promise.withResolvers<Uint8Array>()
  const service = offerRaw([FLOOR], async function* (_, call) {
    call.accept()
    while (!call.hungUp.aborted) yield await bell.promise
  })
  const { address } = await serveGrpc({ address: ANYWHERE, services: [service], ...around })
  say({ address })
  await untilTheEnd((bytes) => {
    bell.resolve(new Uint8Array(Number(bytes)))
    bell = Promise.withResolvers()
    say({})
  })
}

const PIECE = Buffer.alloc(64 * 1024, 'a line of a log that somebody reads\n')

/** A server behind an agent that pours as many bytes as `limitBytes` says, and knows nothing else. */
async function source(): Promise<void> {
  const server = createHttpServer(({ url = '/' }, response) => {
    const bytes = Number(new URL(url, 'http://source').searchParams.get('limitBytes'))
    if (!bytes) return void response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
    response.writeHead(200, { 'content-type': 'text/plain' })
    pipeline(Readable.from(pieces(bytes)), response).catch(() => undefined)
  })
  say({ address: await listenOn(server) })
  await untilTheEnd()
}

function* pieces(bytes: number): Generator<Uint8Array> {
  for (let left = bytes; left > 0; left -= PIECE.length) yield PIECE.subarray(0, left)
}

/** The floor of a tunnel: a hop of plain HTTP. */
async function relay([target = '']: string[]): Promise<void> {
  const server = createHttpServer((incoming, response) => {
    const { url, method, headers } = incoming
    const onward = request(`http://${target}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      pipeline(answer, response).catch(() => undefined)
    })
    pipeline(incoming, onward).catch(() => response.destroy())
  })
  say({ address: await listenOn(server) })
  await untilTheEnd()
}
