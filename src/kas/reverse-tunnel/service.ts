import { type GrpcService, offer } from '../../adapters/grpc/index.ts'
import type { Tunnels } from '../../engines/tunnel/index.ts'
import { PORT_KEYS, ReverseTunnel } from '../../rpc/index.ts'
import type { AgentGate, AgentRoll, WorkspaceGate } from '../ports/ports.ts'

export interface ReverseTunnelOptions {
  gate: AgentGate
  /** For pods of workspaces, which open the same tunnels. */
  workspaces: WorkspaceGate
  tunnels: Tunnels
  roll: Pick<AgentRoll, 'tunnel'>
  /** So long a tunnel may wait for a request. Milliseconds. */
  maxAge: number
}

/** A little different for each, or agents would all come back at the same moment. */
const JITTER = 0.05

export const createReverseTunnelService = ({ gate, workspaces, tunnels, roll, maxAge }: ReverseTunnelOptions): GrpcService =>
  offer(ReverseTunnel, {
    async *connect(requests, call) {
      const authorization = call.metadata('authorization')
      const workspace = call.metadata(PORT_KEYS.tunnelOf)
      const agent = workspace === undefined ? gate.admit(authorization) : undefined
      const pass = agent ?? (await workspaces.admit({ workspace: workspace ?? '', authorization, peer: call.peer }))
      const leave = agent && roll.tunnel(agent, call.peer)
      const age = maxAge * (1 + JITTER * Math.random())
      try {
        yield* tunnels.accept({ agentId: pass.id, ended: pass.ended, age, ...(pass.most && { most: pass.most }) }, requests, call)
      } finally {
        leave?.()
        pass.close()
      }
    },
  })
