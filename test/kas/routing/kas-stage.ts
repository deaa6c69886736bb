import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../src/adapters/control-plane/ports.ts'
import { type Duplex, dial, type GrpcConnection, type ServeOptions, serveGrpc } from '../../../src/adapters/grpc/index.ts'
import { createMetrics, type Metrics } from '../../../src/adapters/http/index.ts'
import { serveTunnels, type TunnelHandler } from '../../../src/engines/tunnel/index.ts'
import type { KasConfig } from '../../../src/kas/config.ts'
import { createMeters } from '../../../src/kas/ports/meters.ts'
import type { AgentGate, Census, Router, WorkspaceGate } from '../../../src/kas/ports/ports.ts'
import { createRoutes } from '../../../src/kas/routes.ts'
import type { Connected } from '../../../src/kas/routing/index.ts'
import { Failure, hours, type Log, Secret, seconds, silentLog, systemClock } from '../../../src/std/index.ts'

/** The one method that is routed. */
export const METHOD = '/gitlab.agent.kubernetes_api.rpc.KubernetesApi/MakeRequest'

export interface Kas {
  router: Router
  census: Census
  /** For agents. */
  address: string
  privateApi: string
  metrics: Metrics
  /** Ends it as a kas is ended that is to be replaced: agents leave, what is open goes on so long. */
  drain(grace: number): Promise<void>
  /** Ends it without waiting for anything. */
  kill(): Promise<void>
}

/** Whose token is a number is the agent of that number. */
export const gate: AgentGate = {
  admit(authorization) {
    const [, id] = /^Bearer (\d+)$/.exec(authorization ?? '') ?? []
    if (id === undefined) throw new Failure('unauthorized', 'the token is not known', { reason: 'TokenUnknown' })
    const agent = { namespace: 'team-a', name: `agent-${id}` }
    return { agent, uid: id, id: BigInt(id), ended: new AbortController().signal, close: () => undefined }
  },
}

export const workspaceGate: WorkspaceGate = { admit: () => Promise.reject(new Failure('forbidden', 'agents only')) }

/** A file with the secret that kas share. */
export async function secretFile(): Promise<{ file: string; secret: Secret<Uint8Array>; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-secret-'))
  const file = join(folder, 'secret')
  const bytes = randomBytes(32)
  await writeFile(file, `${bytes.toString('base64')}\n`)
  return { file, secret: new Secret<Uint8Array>(bytes), remove: () => rm(folder, { recursive: true }) }
}

const NO_ACCESS = { user: undefined, password: undefined, ca: undefined, prefix: 'berth' }

interface KasOptions {
  peers?: string[]
  peersCa?: string
  wait?: number
  privateApi?: string
  /** What it says of who is connected to it. */
  connected?: Connected
  log?: Log
  tls?: ServeOptions['tls']
  redis?: Partial<NonNullable<KasConfig['redis']>> & { url: string }
}

/** The part of kas that routes, with both its endpoints. */
export async function openKas(
  file: string,
  {
    peers = [],
    wait = seconds(20),
    privateApi = '127.0.0.1:0',
    peersCa,
    tls,
    connected = () => [],
    log = silentLog,
    redis,
  }: KasOptions = {},
): Promise<Kas> {
  const around = { clock: systemClock, log }
  const config = {
    privateApi,
    privateApiSecret: file,
    peers,
    peersCa,
    agentWait: wait,
    streamAge: hours(1),
    redis: redis && { ...NO_ACCESS, ...redis },
  }
  const metrics = createMetrics({})
  const routes = await createRoutes({
    ...{
      config,
      agentGate: gate,
      workspaceGate,
      roll: { tunnel: () => () => undefined },
      connected,
      tls,
      meters: createMeters(metrics).routes,
    },
    ...around,
  })
  const server = await serveGrpc({ address: '127.0.0.1:0', services: [routes.service], ...around })
  return {
    router: routes.router,
    census: routes.census,
    address: server.address,
    privateApi: routes.privateApi ?? '',
    metrics,
    async drain(grace) {
      server.leave()
      await routes.drain(grace)
    },
    async kill() {
      await server.stop(0)
      await routes.stop()
    },
  }
}

/** Where so many kas may listen for one another, and how each of them names all. */
export async function neighbours(count: number): Promise<{ privateApi: string; peers: string[] }[]> {
  const addresses = new Set<string>()
  while (addresses.size < count) addresses.add(`127.0.0.1:${await freePort()}`)
  const peers = [...addresses].map((address) => `grpc://${address}`)
  return [...addresses].map((privateApi) => ({ privateApi, peers }))
}

export const dialKas = (address: string, token: string): GrpcConnection => dial({ address, token: async () => new Secret(token) })

/** An agent of that number; gives what makes it leave. */
export function connectAgent(kas: Pick<Kas, 'address'>, id: bigint, handler: TunnelHandler): () => Promise<void> {
  const leaving = new AbortController()
  const connection = dialKas(kas.address, String(id))
  const services = new Map([[METHOD, handler]])
  const done = serveTunnels({ connection, services, clock: systemClock, log: silentLog, signal: leaving.signal })
  return async () => {
    leaving.abort()
    await done
    connection.close()
  }
}

/** Says who it is, then each message again. */
export const named = (name: string): TunnelHandler =>
  async function* (requests, call) {
    call.setTrailer({ by: [name] })
    yield Buffer.from(name)
    yield* requests
  }

export async function ask(router: Router, id: bigint, ...messages: string[]): Promise<string[]> {
  const call = await router.open(id, METHOD, {})
  for (const message of messages) await call.send(Buffer.from(message))
  call.closeSend()
  return textsOf(call)
}

export async function textsOf(call: Duplex<Uint8Array, Uint8Array>): Promise<string[]> {
  const texts: string[] = []
  for await (const message of call.responses) texts.push(Buffer.from(message).toString())
  return texts
}
