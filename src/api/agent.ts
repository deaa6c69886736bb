import type { AgentSpec, AgentStatus } from './generated/agent.ts'
import type { CustomObject, Kind } from './kube-object.ts'

export type { AgentSpec, AgentStatus }

/** The registration of an agent in a target cluster. */
export type Agent = CustomObject<AgentSpec, AgentStatus>

export const Agents: Kind<Agent> = {
  group: 'berth.dev',
  version: 'v1alpha1',
  kind: 'Agent',
  plural: 'agents',
  namespaced: true,
}
