import { create } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { type Door, type GrpcService, offer } from '../../adapters/grpc/index.ts'
import type { Cache } from '../../adapters/kube/index.ts'
import type { Agent } from '../../api/index.ts'
import {
  AgentRegistrar,
  AgentReports,
  type ConnectedAgentInfo,
  ConnectedAgentInfoSchema,
  type GetConnectedAgentsRequest,
  type ReportRequest,
} from '../../rpc/index.ts'
import type { AgentGate, AgentPass } from '../ports/ports.ts'
import { configurationProjectOf, type Projects } from '../projects/project.ts'
import type { RollOfPods } from './roll.ts'

export interface RegistrationOptions {
  gate: AgentGate
  /** Proves who calls before anything of a request is read. */
  door: Door
  roll: RollOfPods
  /** Told of what agents say of their work. */
  onReport: (pass: AgentPass, report: ReportRequest) => void
}

/** Agents register here and report what they do. */
export const createRegistrationServices = ({ gate, door, roll, onReport }: RegistrationOptions): GrpcService[] => {
  const admitted = async <T>(authorization: string | undefined, work: (pass: AgentPass) => T): Promise<T> => {
    const pass = gate.admit(authorization)
    try {
      return work(pass)
    } finally {
      pass.close()
    }
  }
  return [
    offer(
      AgentRegistrar,
      {
        register: ({ agentMeta, podId }, call) =>
          admitted(call.metadata('authorization'), (pass) => {
            roll.register(pass, agentMeta, podId, call.peer)
            return create(AgentRegistrar.method.register.output)
          }),
      },
      door,
    ),
    offer(
      AgentReports,
      {
        report: (report, call) =>
          admitted(call.metadata('authorization'), (pass) => {
            onReport(pass, report)
            return create(AgentReports.method.report.output)
          }),
      },
      door,
    ),
  ]
}

/** The pods of an agent, or of all agents that a project configures. Who may ask is decided before. */
export function connectedAgents(
  { roll, agents, projects }: { roll: RollOfPods; agents: Pick<Cache<Agent>, 'get'>; projects: Pick<Projects, 'named'> },
  { request }: Pick<GetConnectedAgentsRequest, 'request'>,
): ConnectedAgentInfo[] {
  const found: ConnectedAgentInfo[] = []
  for (const { pods, ...of } of roll.all()) {
    const { agent, id } = of.registered
    if (request.case === 'agentId' && request.value !== id) continue
    const object = agents.get(agent)
    const projectId = (object && configurationProjectOf(projects, object)?.id) ?? 0n
    if (request.case !== 'agentId' && (request.case !== 'projectId' || request.value !== projectId)) continue
    for (const { meta, connectedAt, podId } of pods) {
      const ids = { connectionId: BigInt.asIntN(64, BigInt(podId)), agentId: id, projectId }
      const about = { connectedAt: timestampFromMs(connectedAt), ...(meta && { agentMeta: meta }) }
      found.push(create(ConnectedAgentInfoSchema, { ...ids, ...about }))
    }
  }
  return found
}
