import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { type ConfigurationResponse, ConfigurationResponseSchema } from './generated/agent_configuration_pb.ts'
import { type RegisterResponse, RegisterResponseSchema } from './generated/agent_registrar_pb.ts'
import { type ReportResponse, ReportResponseSchema } from './generated/agent_report_pb.ts'
import { type ConnectedAgentInfo, ConnectedAgentInfoSchema } from './generated/agent_tracker_pb.ts'
import type { AgentConfiguration } from './generated/agentcfg_pb.ts'
import type { AgentMeta } from './generated/entity_pb.ts'
import { type HttpResponse, HttpResponseSchema } from './generated/grpctool_pb.ts'

export const configured = (configuration: AgentConfiguration, commitId: string): ConfigurationResponse =>
  create(ConfigurationResponseSchema, { configuration, commitId })

export const registered = (): RegisterResponse => create(RegisterResponseSchema)

export const reported = (): ReportResponse => create(ReportResponseSchema)

/** HTTP 404 without a body, as a stream of messages. */
export const nothingThere = (): HttpResponse[] => [
  httpResponse({ case: 'header', value: { response: { statusCode: 404, status: '404 Not Found' } } }),
  httpResponse({ case: 'trailer', value: {} }),
]

const httpResponse = (message: NonNullable<MessageInitShape<typeof HttpResponseSchema>['message']>): HttpResponse =>
  create(HttpResponseSchema, { message })

/** A pod of an agent, for those who ask who is there. */
export interface Connected {
  meta: AgentMeta | undefined
  /** Milliseconds since the epoch. */
  connectedAt: number
  connectionId: bigint
  agentId: bigint
  projectId: bigint
}

export const connectedAgent = ({ meta, connectedAt, ...ids }: Connected): ConnectedAgentInfo =>
  create(ConnectedAgentInfoSchema, { ...ids, connectedAt: timestampFromMs(connectedAt), ...(meta ? { agentMeta: meta } : {}) })
