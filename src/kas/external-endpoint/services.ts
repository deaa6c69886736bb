import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { createVerifier } from '../../adapters/auth/index.ts'
import {
  type Call,
  type Door,
  type GrpcServer,
  type GrpcService,
  offer,
  type ServeOptions,
  serveGrpc,
} from '../../adapters/grpc/index.ts'
import type { Counter } from '../../adapters/http/index.ts'
import {
  AgentTracker,
  type ConnectedAgentInfo,
  ConnectedAgentsByIdResponseSchema,
  ConnectedAgentsForProjectResponseSchema,
  GetConnectedAgentsResponseSchema,
  GetPodsResponseSchema,
  GitPushEventResponseSchema,
  KasApi,
  Notifications,
} from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'
import type { Census, Polls, Router } from '../ports/ports.ts'
import type { Projects } from '../projects/project.ts'
import { sharedSecret } from '../tokens/shared-secret.ts'
import { listPods } from './pods.ts'

interface ExternalEndpoint
  extends Omit<ExternalOptions, 'verify' | 'patience'>,
    Pick<ServeOptions, 'tls' | 'onTurnedAway' | 'clock' | 'log'> {
  config: {
    /** Where it listens. */
    api: ServeOptions['address']
    /** The file of the secret by which callers sign. */
    apiSecret: string | undefined
    /** So long a request waits for an agent, milliseconds. */
    agentWait: number
  }
}

/** Callers sign as GitLab does. */
const ISSUER = 'gitlab'
const AUDIENCE = 'gitlab-kas'

/** `undefined` when it is off. Stop it before what carries the calls to agents. */
export async function serveExternalEndpoint(given: ExternalEndpoint): Promise<GrpcServer | undefined> {
  const { config, tls, onTurnedAway, clock, log } = given
  if (config.apiSecret === undefined) return undefined
  const secret = await sharedSecret(config.apiSecret, '--api-secret')
  const verify = createVerifier({ secret, issuer: ISSUER, audience: AUDIENCE, clock })
  const services = createServices({ ...given, verify, patience: config.agentWait })
  return serveGrpc({ address: config.api, tls, services, onTurnedAway, clock, log })
}

interface ExternalOptions {
  /** Throws unless the call shows that it may ask. */
  verify: (authorization: string | undefined) => Promise<void>
  /** The pods of agents that are connected to any kas. */
  census: Census
  projects: Pick<Projects, 'called'>
  polls: Pick<Polls, 'poke'>
  router: Router
  /** So long the router waits for an agent, milliseconds. */
  patience: number
  /** Counts calls by method and outcome. */
  asked: Counter
}

/** The services of the external endpoint. Every call is proved first. */
function createServices(options: ExternalOptions): GrpcService[] {
  const { census, projects, polls } = options
  /** Nothing is read of what shows no good token, but it is counted. */
  const door: Door = async ({ metadata, path }) => {
    try {
      await options.verify(metadata('authorization'))
    } catch (thrown) {
      options.asked.add({ method: path.slice(path.lastIndexOf('/') + 1), outcome: Failure.from(thrown).code })
      throw thrown
    }
  }
  /** Counts those that were let in. */
  const counted =
    <I, O>(method: string, work: (request: I, call: Call) => O | Promise<O>) =>
    async (request: I, call: Call): Promise<O> => {
      try {
        const answer = await work(request, call)
        options.asked.add({ method, outcome: 'ok' })
        return answer
      } catch (thrown) {
        options.asked.add({ method, outcome: Failure.from(thrown).code })
        throw thrown
      }
    }
  const byProject = (value: bigint, { signal }: Call) =>
    census({ request: { case: 'projectId', value: idOf(value, 'project_id') } }, signal)
  const byAgent = (value: bigint, { signal }: Call) =>
    census({ request: { case: 'agentId', value: idOf(value, 'agent_id') } }, signal)

  return [
    offer(
      AgentTracker,
      {
        getConnectedAgents: counted('GetConnectedAgents', async ({ request }, call) => {
          const found = request.case === 'projectId' ? byProject(request.value, call) : byAgent(request.value ?? 0n, call)
          const { agents, silent } = await found
          return create(GetConnectedAgentsResponseSchema, { agents, silentKas: silent })
        }),
      },
      door,
    ),
    offer(
      Notifications,
      {
        gitPushEvent: counted('GitPushEvent', ({ event }) => {
          // The number is one of the other side's own: only paths are the same here and there.
          const path = event?.project?.fullPath
          if (!path) throw malformed('event.project.full_path is empty')
          // Somebody has pushed there, whoever here follows it; a path that nobody has registered is no mistake.
          for (const { ref } of projects.called(path)) polls.poke(ref)
          return create(GitPushEventResponseSchema)
        }),
      },
      door,
    ),
    offer(
      KasApi,
      {
        connectedAgentsForProject: counted('ConnectedAgentsForProject', async ({ projectId }, call) => {
          const { agents, silent } = await byProject(projectId, call)
          return create(ConnectedAgentsForProjectResponseSchema, { agents: agents.map(info), silentKas: silent })
        }),
        connectedAgentsById: counted('ConnectedAgentsById', async ({ agentId }, call) => {
          const { agents, silent } = await byAgent(agentId, call)
          return create(ConnectedAgentsByIdResponseSchema, { agents: agents.map(info), silentKas: silent })
        }),
        getPods: counted('GetPods', async ({ agentId }, call) => {
          const pods = await listPods({ ...options, agentId: idOf(agentId, 'agent_id'), signal: call.signal })
          return create(GetPodsResponseSchema, { pods })
        }),
      },
      door,
    ),
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
