import { offer, type Service } from '../../adapters/grpc/index.ts'
import type { Tunnels } from '../../engines/tunnel/index.ts'
import { ReverseTunnel } from '../../rpc/index.ts'
import type { AgentGate } from '../ports.ts'

export interface ReverseTunnelOptions {
  gate: AgentGate
  tunnels: Tunnels
  /** So long a tunnel may wait for a request. Milliseconds. */
  maxAge: number
}

/** A little different for each, or agents would all come back at the same moment. */
const JITTER = 0.05

export const createReverseTunnelService = ({ gate, tunnels, maxAge }: ReverseTunnelOptions): Service =>
  offer(ReverseTunnel, {
    async *connect(requests, call) {
      const pass = gate.admit(call.metadata('authorization'))
      const age = maxAge * (1 + JITTER * Math.random())
      try {
        yield* tunnels.accept({ agentId: pass.id, ended: pass.ended, age }, requests, call)
      } finally {
        pass.close()
      }
    },
  })
