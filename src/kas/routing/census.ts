import { create } from '@bufbuild/protobuf'
import { type GrpcConnection, type GrpcService, offer } from '../../adapters/grpc/index.ts'
import { AgentTracker, type ConnectedAgentInfo, type GetConnectedAgentsRequest } from '../../rpc/index.ts'
import { Failure, type Log, seconds, within } from '../../std/index.ts'
import type { Census } from '../ports/ports.ts'
import type { PeerRegistry } from './peers.ts'

/** The pods of agents that are connected to this kas. */
export type Connected = (wanted: Pick<GetConnectedAgentsRequest, 'request'>) => ConnectedAgentInfo[]

export interface CensusOptions {
  connected: Connected
  peers: Pick<PeerRegistry, 'everybody'>
  /** A connection to the private endpoint of another kas, with what proves who we are. */
  dial: (url: string) => GrpcConnection
  log: Log
}

/** So long the others have time to answer. Milliseconds. */
const PATIENCE = seconds(5)

/** Asks all kas at once. What two of them say of one connection counts once, and who does not answer is named. */
export const createCensus =
  ({ connected, peers, dial, log }: CensusOptions): Census =>
  async (wanted, signal) => {
    const agents = new Map<string, ConnectedAgentInfo>()
    const add = (all: readonly ConnectedAgentInfo[]) => {
      for (const one of all) {
        const key = `${one.agentId} ${one.connectionId}`
        if (!agents.has(key)) agents.set(key, one)
      }
    }
    add(connected(wanted))
    const { urls, unknown } = await peers.everybody()
    const silent = [...unknown]
    const ask = async (url: string) => {
      const connection = dial(url)
      try {
        const method = AgentTracker.method.getConnectedAgents
        const request = create(method.input, wanted)
        add((await within(PATIENCE, signal, (limit) => connection.unary(method, request, { signal: limit }))).agents)
      } catch (thrown) {
        log.warn('Another kas did not say which agents it has', { kas: url, error: Failure.from(thrown) })
        silent.push(url)
      } finally {
        connection.close()
      }
    }
    await Promise.all(urls.map(ask))
    return { agents: [...agents.values()], silent: silent.sort() }
  }

/** Answers the others for this kas alone, whatever they ask for, so that questions cannot go in circles. */
export const answerCensus = (connected: Connected, verify: (authorization: string | undefined) => Promise<void>): GrpcService =>
  offer(
    AgentTracker,
    {
      async getConnectedAgents({ request }) {
        return create(AgentTracker.method.getConnectedAgents.output, { agents: connected({ request }) })
      },
    },
    ({ metadata }) => verify(metadata('authorization')),
  )
