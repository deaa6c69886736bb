import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { type Call, offer, type Service } from '../../adapters/grpc/index.ts'
import type { Counter } from '../../adapters/http/index.ts'
import {
  AgentTracker,
  type ConnectedAgentInfo,
  ConnectedAgentsByIdResponseSchema,
  ConnectedAgentsForProjectResponseSchema,
  type GetConnectedAgentsRequest,
  GetConnectedAgentsResponseSchema,
  GetPodsResponseSchema,
  GitPushEventResponseSchema,
  KasApi,
  Notifications,
} from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'
import type { Polls, Router } from '../ports.ts'
import type { Projects } from '../project.ts'
import { listPods } from './pods.ts'

type Wanted = GetConnectedAgentsRequest['request']

export interface Desk {
  /** Throws unless the call shows that it may ask. */
  verify: (authorization: string | undefined) => Promise<void>
  /** The pods of agents that are connected to this kas. */
  connected: (wanted: { request: Wanted }) => ConnectedAgentInfo[]
  projects: Pick<Projects, 'called'>
  polls: Pick<Polls, 'poke'>
  router: Router
  /** So long the router waits for an agent, milliseconds. */
  patience: number
  /** Counts calls by method and outcome. */
  asked: Counter
}

/** What is answered at the external endpoint. Every call is proved first. */
export function createServices(desk: Desk): Service[] {
  const { connected, projects, polls } = desk
  /** Lets calls through that show a good token, and counts them all. */
  const guard =
    <I, O>(method: string, work: (request: I, call: Call) => O | Promise<O>) =>
    async (request: I, call: Call): Promise<O> => {
      try {
        await desk.verify(call.metadata('authorization'))
        const answer = await work(request, call)
        desk.asked.add({ method, outcome: 'ok' })
        return answer
      } catch (thrown) {
        desk.asked.add({ method, outcome: Failure.from(thrown).code })
        throw thrown
      }
    }
  const byProject = (value: bigint) => connected({ request: { case: 'projectId', value: idOf(value, 'project_id') } })
  const byAgent = (value: bigint) => connected({ request: { case: 'agentId', value: idOf(value, 'agent_id') } })

  return [
    offer(AgentTracker, {
      getConnectedAgents: guard('GetConnectedAgents', ({ request }) => {
        const agents = request.case === 'projectId' ? byProject(request.value) : byAgent(request.value ?? 0n)
        return create(GetConnectedAgentsResponseSchema, { agents })
      }),
    }),
    offer(Notifications, {
      gitPushEvent: guard('GitPushEvent', ({ event }) => {
        // The number is one of the other side's own: only paths are the same here and there.
        const path = event?.project?.fullPath
        if (!path) throw malformed('event.project.full_path is empty')
        // Somebody has pushed there, whoever here follows it; a path that nobody has registered is no mistake.
        for (const { ref } of projects.called(path)) polls.poke(ref)
        return create(GitPushEventResponseSchema)
      }),
    }),
    offer(KasApi, {
      connectedAgentsForProject: guard('ConnectedAgentsForProject', ({ projectId }) =>
        create(ConnectedAgentsForProjectResponseSchema, { agents: byProject(projectId).map(info) }),
      ),
      connectedAgentsById: guard('ConnectedAgentsById', ({ agentId }) =>
        create(ConnectedAgentsByIdResponseSchema, { agents: byAgent(agentId).map(info) }),
      ),
      getPods: guard('GetPods', async ({ agentId }, call) => {
        const pods = await listPods({ ...desk, agentId: idOf(agentId, 'agent_id'), signal: call.signal })
        return create(GetPodsResponseSchema, { pods })
      }),
    }),
  ]
}

type Info = NonNullable<MessageInitShape<typeof ConnectedAgentsByIdResponseSchema>['agents']>[number]

const info = ({ agentId, connectionId, connectedAt, agentMeta }: ConnectedAgentInfo): Info => ({
  id: agentId,
  connectionId,
  version: agentMeta?.version ?? '',
  commit: agentMeta?.commitId ?? '',
  podNamespace: agentMeta?.podNamespace ?? '',
  podName: agentMeta?.podName ?? '',
  ...(connectedAt && { connectedAt }),
})

/** Zero is what was left out, and what agents are listed with whose project does not exist. */
function idOf(value: bigint, field: string): bigint {
  if (value > 0n) return value
  throw malformed(`${field} is ${value}; it must be a number above zero`)
}

const malformed = (message: string) => new Failure('invalid', message, { reason: 'InvalidRequest' })
