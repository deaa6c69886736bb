import { randomBytes, randomInt } from 'node:crypto'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { type Call, offer, serveGrpc } from '../../src/adapters/grpc/index.ts'
import {
  AgentConfigurationSchema,
  AgentConfigurationService,
  AgentRegistrar,
  AgentReports,
  ConfigurationResponseSchema,
  Gitops,
  header,
  objectChunk,
  RegisterResponseSchema,
  type ReportRequest,
  ReportResponseSchema,
  trailer,
} from '../../src/rpc/index.ts'
import { Failure, silentLog, systemClock } from '../../src/std/index.ts'

export type ConfigurationInit = Omit<MessageInitShape<typeof AgentConfigurationSchema>, '$typeName' | '$unknown'>
export type Files = Record<string, string | object>

export interface ForeignKas {
  address: string
  /** Of the agent, as kas says it. No two of a test run are the same: what one left in the cluster is not another's. */
  agentId: bigint
  /** From now on; `commit` is made up. */
  configure(configuration: ConfigurationInit): string
  /** The files of a project from now on; gives the commit. */
  push(project: string, files: Files): string
  /** The same project by another path: its number and its files are those of before. */
  rename(project: string, to: string): void
  /** What was registered, and what was asked for by GetConfiguration. */
  registered: { podName: string; podId: bigint }[]
  asked: { commitId: string; skipRegister: boolean; berth: boolean }[]
  authorizations: Set<string>
  reports: ReportRequest[]
  /** The report of the newest state of a project. */
  project(id: string): ReportRequest['projects'][number] | undefined
  /** Whoever shows this is nobody here, from now on. */
  refuse(authorization: string): void
  /** Streams that are open for the objects of a project. */
  open(project: string): number
  /** That agents have to it now. */
  readonly connections: number
  stop(): Promise<void>
}

interface State {
  refused: string
  agentId: bigint
  configuration: { commitId: string; configuration: ConfigurationInit } | undefined
  projects: Map<string, { commitId: string; number: bigint; files: Files }>
  streams: Map<string, number>
  news: PromiseWithResolvers<void>
}

/** A kas as GitLab's is: it knows nothing of what Berth adds; with `reports` it knows AgentReports as well. */
export async function foreignKas({
  reports = false,
  listen = '127.0.0.1:0',
  agentId = BigInt(randomInt(1, 2 ** 47)),
} = {}): Promise<ForeignKas> {
  const state: State = {
    refused: '',
    agentId,
    configuration: undefined,
    projects: new Map(),
    streams: new Map(),
    news: Promise.withResolvers<void>(),
  }
  const seen: Pick<ForeignKas, 'registered' | 'asked' | 'reports' | 'authorizations'> = {
    registered: [],
    asked: [],
    reports: [],
    authorizations: new Set(),
  }
  const services = [
    configurationOf(state, seen),
    offer(AgentRegistrar, {
      async register({ agentMeta, podId }) {
        seen.registered.push({ podName: agentMeta?.podName ?? '', podId })
        return create(RegisterResponseSchema)
      },
    }),
    gitopsOf(state),
    ...(reports ? [reportsOf(seen)] : []),
  ]
  const server = await serveGrpc({ address: listen, services, clock: systemClock, log: silentLog })
  const tell = () => {
    const { news } = state
    state.news = Promise.withResolvers<void>()
    news.resolve()
  }
  return {
    ...seen,
    agentId: state.agentId,
    address: `grpc://${server.address}`,
    configure(configuration) {
      const commitId = newCommit()
      state.configuration = { commitId, configuration }
      tell()
      return commitId
    },
    push(project, files) {
      const commitId = newCommit()
      const number = state.projects.get(project)?.number ?? BigInt(state.projects.size + 1)
      state.projects.set(project, { commitId, number, files })
      tell()
      return commitId
    },
    rename(project, to) {
      const known = state.projects.get(project)
      state.projects.delete(project)
      if (known) state.projects.set(to, known)
      tell()
    },
    project: (id) => seen.reports.at(-1)?.projects.find((one) => one.id === id),
    refuse(authorization) {
      state.refused = authorization
    },
    open: (project) => state.streams.get(project) ?? 0,
    get connections() {
      return server.connections
    },
    stop: () => server.stop(),
  }
}

const newCommit = (): string => randomBytes(20).toString('hex')

const configurationOf = (state: State, seen: Pick<ForeignKas, 'asked' | 'authorizations'>) =>
  offer(AgentConfigurationService, {
    async *getConfiguration({ commitId, skipRegister, berth }, call) {
      seen.asked.push({ commitId, skipRegister, berth })
      seen.authorizations.add(call.metadata('authorization') ?? '')
      if (call.metadata('authorization') === state.refused) throw new Failure('unauthorized', 'unknown token')
      call.accept()
      for (let last = commitId; !call.signal.aborted; await change(state, call)) {
        const { configuration: now } = state
        if (!now || now.commitId === last) continue
        last = now.commitId
        const configuration = create(AgentConfigurationSchema, {
          agentId: state.agentId,
          projectId: 1n,
          projectPath: 'team/config',
          ...now.configuration,
        })
        yield create(ConfigurationResponseSchema, { commitId: last, configuration })
      }
    },
  })

const gitopsOf = (state: State) =>
  offer(Gitops, {
    async *getObjectsToSynchronize({ projectId, commitId }, call) {
      const count = (by: number) => state.streams.set(projectId, (state.streams.get(projectId) ?? 0) + by)
      count(1)
      call.accept()
      try {
        for (; !call.signal.aborted; await change(state, call)) {
          const project = state.projects.get(projectId)
          if (!project) throw new Failure('not-found', 'project not found')
          if (project.commitId === commitId) continue
          yield header(project.commitId, project.number)
          for (const [source, content] of Object.entries(project.files))
            yield objectChunk(source, Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)))
          yield trailer()
          return
        }
      } finally {
        count(-1)
      }
    },
  })

const reportsOf = (seen: Pick<ForeignKas, 'reports'>) =>
  offer(AgentReports, {
    async report(request) {
      seen.reports.push(request)
      return create(ReportResponseSchema)
    },
  })

const change = ({ news }: State, { signal }: Call): Promise<unknown> =>
  Promise.race([news.promise, new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))])
