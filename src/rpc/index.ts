/**
 * The vocabulary of the wire: what programs say to each other, as protobuf messages and service definitions.
 * It opens no connection; adapters/grpc serves and dials what is defined here. The names and numbers are a contract with
 * peers that we did not write, so a field is added but never renumbered. Read gitops.proto and object-stream.ts first, then agent_configuration.proto and reverse_tunnel.proto.
 * Everything in generated/ comes from the .proto files by hack/update-rpc.ts.
 */
export { encode } from './encode.ts'
export {
  AgentConfiguration as AgentConfigurationService,
  type ConfigurationRequest,
  ConfigurationRequestSchema,
  type ConfigurationResponse,
  ConfigurationResponseSchema,
} from './generated/agent_configuration_pb.ts'
export { AgentRegistrar, RegisterRequestSchema, RegisterResponseSchema } from './generated/agent_registrar_pb.ts'
export {
  AgentReports,
  ProjectReportSchema,
  type ReportRequest,
  ReportRequestSchema,
  ReportResponseSchema,
} from './generated/agent_report_pb.ts'
export { type ConnectedAgentInfo, ConnectedAgentInfoSchema } from './generated/agent_tracker_pb.ts'
export {
  AgentTracker,
  type GetConnectedAgentsRequest,
  GetConnectedAgentsResponseSchema,
} from './generated/agent_tracker_rpc_pb.ts'
export {
  type AgentConfiguration,
  AgentConfigurationSchema,
  type ConfigurationFile,
  ConfigurationFileSchema,
  type GitopsCF,
  GitopsCFSchema,
  log_level_enum as LogLevelCF,
  type ManifestProjectCF,
} from './generated/agentcfg_pb.ts'
export { Devfiles } from './generated/devfiles_pb.ts'
export { type AgentMeta, AgentMetaSchema } from './generated/entity_pb.ts'
export { type GatewayKasResponse, GatewayKasResponseSchema } from './generated/gateway_pb.ts'
export { GitlabAccess } from './generated/gitlab_access_pb.ts'
export {
  Gitops,
  type ObjectsToSynchronizeRequest,
  ObjectsToSynchronizeRequestSchema,
  type ObjectsToSynchronizeResponse,
  ObjectsToSynchronizeResponseSchema,
} from './generated/gitops_pb.ts'
export type { HttpRequest, HttpResponse } from './generated/grpctool_pb.ts'
export {
  ConnectedAgentsByIdResponseSchema,
  ConnectedAgentsForProjectResponseSchema,
  GetPodsResponseSchema,
  KasApi,
} from './generated/kas_api_pb.ts'
export { type GitPushEventRequest, GitPushEventResponseSchema, Notifications } from './generated/notifications_pb.ts'
export { type Values as MetaValues, ValuesSchema as MetaValuesSchema } from './generated/prototool_pb.ts'
export {
  type ConnectRequest,
  ConnectRequestSchema,
  type ConnectResponse,
  ConnectResponseSchema,
  type RequestInfo,
  ReverseTunnel,
} from './generated/reverse_tunnel_pb.ts'
export {
  canonicalName,
  encodeRequest,
  encodeResponse,
  type HttpFrame,
  type Impersonation,
  MAKE_REQUEST,
  pieces,
  type RequestHead,
  type ResponseHead,
  requestFrames,
  responseFrames,
  type Values,
} from './http-stream.ts'
export {
  type Batch,
  collectBatch,
  completed,
  type GitRef,
  gitRefFrom,
  header,
  linkObject,
  type ObjectFile,
  type ObjectsWanted,
  objectChunk,
  refOfRequest,
  removedObject,
  requestFor,
  trailer,
} from './object-stream.ts'
export { allIsSaid, CONNECT_PORT, decodePiece, encodePiece, PORT_KEYS, portIn, portIsOpen } from './workspace-ports.ts'
