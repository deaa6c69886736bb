import { dial, type GrpcConnection, type GrpcService, offerRaw, serveGrpc } from '../../../src/adapters/grpc/index.ts'
import { createMetrics } from '../../../src/adapters/http/index.ts'
import { serveTunnels, type TunnelHandler } from '../../../src/engines/tunnel/index.ts'
import { createMeters } from '../../../src/kas/ports/meters.ts'
import type { AgentGate } from '../../../src/kas/ports/ports.ts'
import { createRoutes } from '../../../src/kas/routes.ts'
import { createLog, Failure, hours, Secret, seconds, systemClock } from '../../../src/std/index.ts'
import { say, untilTheEnd, wallClock } from '../part.ts'
import { AGENT, answer, BYTES, FLOOR, METHOD, passOn, VIA } from './work.ts'

const ANYWHERE = '127.0.0.1:0'
const around = { clock: systemClock, log: createLog('warn', process.stderr) }

/** The processes of the bench. Each says in lines of JSON on its output what there is to say, and ends with its input. */
export const PARTS: Record<string, (given: string[]) => Promise<void>> = { kas, agent }

/** Whose token is a number is the agent of that number. */
const gate: AgentGate = {
  admit(authorization) {
    const id = authorization?.replace('Bearer ', '') ?? ''
    return {
      agent: { namespace: 'bench', name: `agent-${id}` },
      uid: id,
      id: BigInt(id),
      ended: new AbortController().signal,
      close: () => undefined,
    }
  },
}

/** The part of kas that routes. What it gets of the routed method it takes to the agent that the metadata names. */
async function kas([privateApiSecret = '', ...peers]: string[]): Promise<void> {
  const config = {
    privateApi: ANYWHERE,
    privateApiSecret,
    peers,
    peersCa: undefined,
    agentWait: seconds(20),
    streamAge: hours(1),
  }
  const routes = await createRoutes({
    config,
    agentGate: gate,
    workspaceGate: { admit: () => Promise.reject(new Failure('forbidden', 'agents only')) },
    roll: { tunnel: () => () => undefined },
    connected: () => [],
    tls: undefined,
    meters: createMeters(createMetrics({})).routes,
    ...around,
  })
  const entry = offerRaw([METHOD], async function* (requests, call) {
    const { [AGENT]: [id = '0'] = [], [BYTES]: bytes = [] } = call.text
    const options = { metadata: { [BYTES]: bytes }, signal: call.hungUp }
    yield* passOn(requests, await routes.router.open(BigInt(id), METHOD, options))
  })
  const { address } = await serveGrpc({ address: ANYWHERE, services: [routes.service, entry, floor()], ...around })
  say({ address, privateApi: `grpc://${routes.privateApi}` })
  await untilTheEnd()
}

/** Connects to kas each time it is told to, as the agent of that number. */
async function agent([kasAddress = '']: string[]): Promise<void> {
  const { address } = await serveGrpc({ address: ANYWHERE, services: [floor()], ...around })
  say({ address })
  await untilTheEnd((id) => {
    const connection = dial({ address: kasAddress, token: async () => new Secret(id) })
    const handler: TunnelHandler = (requests, call) => answer(requests, call.metadata)
    const services = new Map([[METHOD, handler]])
    void serveTunnels({ connection, services, signal: new AbortController().signal, ...around })
    say({ connecting: wallClock() })
  })
}

/** The floor: calls are passed on as bytes, and answered where there is nobody to pass them on to. */
function floor(): GrpcService {
  const connections = new Map<string, GrpcConnection>()
  return offerRaw([FLOOR], async function* (requests, { text }) {
    const { [VIA]: [via = ''] = [], [BYTES]: bytes = [] } = text
    const [next = '', ...rest] = via.split(' ')
    if (next === '') return yield* answer(requests, text)
    const connection = connections.get(next) ?? dial({ address: next })
    connections.set(next, connection)
    yield* passOn(requests, await connection.duplexRaw(FLOOR, { metadata: { [VIA]: [rest.join(' ')], [BYTES]: bytes } }))
  })
}
