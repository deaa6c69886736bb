import type { Cache } from '../../adapters/kube/index.ts'
import type { Agent } from '../../api/index.ts'
import { type ConnectedAgentInfo, connectedAgent, type GetConnectedAgentsRequest } from '../../rpc/index.ts'
import { configurationProjectOf, type Projects } from '../project.ts'
import type { RollOfPods } from './roll.ts'

export interface TrackerOptions {
  roll: RollOfPods
  agents: Pick<Cache<Agent>, 'get'>
  projects: Pick<Projects, 'named'>
}

/** The pods of an agent, or of all agents that a project configures. Who may ask is decided before. */
export function connectedAgents(
  { roll, agents, projects }: TrackerOptions,
  { request }: Pick<GetConnectedAgentsRequest, 'request'>,
): ConnectedAgentInfo[] {
  const found: ConnectedAgentInfo[] = []
  for (const { registered, pods } of roll.all()) {
    const { agent, id } = registered
    if (request.case === 'agentId' && request.value !== id) continue
    const object = agents.get(agent)
    const projectId = (object && configurationProjectOf(projects, object)?.id) ?? 0n
    if (request.case !== 'agentId' && (request.case !== 'projectId' || request.value !== projectId)) continue
    for (const { meta, connectedAt, podId } of pods)
      found.push(connectedAgent({ meta, connectedAt, connectionId: BigInt.asIntN(64, BigInt(podId)), agentId: id, projectId }))
  }
  return found
}
