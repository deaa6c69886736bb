import { clone, create, equals } from '@bufbuild/protobuf'
import {
  type AgentConfiguration,
  AgentConfigurationSchema,
  type ConfigurationFile,
  ConfigurationFileSchema,
  type GitopsCF,
  GitopsCFSchema,
} from '../rpc/index.ts'
import { Failure } from '../std/index.ts'

/** An agent is told this of itself beside its file. */
export interface AgentIdentity {
  agentId: bigint
  /** Of the project that the configuration is in. */
  projectId: bigint
  projectPath: string
  /** It knows what only Berth's configurations have. */
  berth: boolean
}

/**
 * What is sent of a file. Access rules of people stay here. Each manifest project gets its `id`: agents of before 15.7 refuse a
 * configuration in which one has none. An agent that does not know Berth's keys would work without their limits, so it gets none.
 */
export function configurationFor(file: ConfigurationFile, agent: AgentIdentity): AgentConfiguration {
  const gitops = file.gitops && clone(GitopsCFSchema, file.gitops)
  if (gitops && !agent.berth) withoutBerthKeys(gitops)
  for (const project of gitops?.manifestProjects ?? []) project.id ??= agent.projectPath
  const { observability, ciAccess, containerScanning, remoteDevelopment, flux } = file
  const { agentId, projectId, projectPath } = agent
  const said = { gitops, observability, ciAccess, containerScanning, remoteDevelopment, flux }
  const given = Object.fromEntries(Object.entries(said).filter(([, section]) => section !== undefined))
  return create(AgentConfigurationSchema, { ...given, agentId, projectId, projectPath })
}

/** `orphan` is what such an agent does anyway. */
function withoutBerthKeys(gitops: GitopsCF): void {
  const used = [
    ...(gitops.allowedKinds.length > 0 ? ['gitops.allowed_kinds'] : []),
    ...(gitops.namespaces.length > 0 ? ['gitops.namespaces'] : []),
    ...gitops.manifestProjects.flatMap(({ paths, deletion }, i) => [
      ...(paths.some(({ kustomize }) => kustomize !== '') ? [`gitops.manifest_projects[${i}].paths[].kustomize`] : []),
      ...(paths.some(({ chart }) => chart !== undefined) ? [`gitops.manifest_projects[${i}].paths[].chart`] : []),
      ...(deletion === 'delete' ? [`gitops.manifest_projects[${i}].deletion`] : []),
    ]),
  ]
  if (used.length > 0)
    throw new Failure('invalid', `the connected agent is not one of Berth's, and does not know ${used.slice(0, 5).join(', ')}`, {
      reason: 'AgentTooSimple',
      remedy: "Run Berth's agent, or leave these keys out.",
    })
  for (const project of gitops.manifestProjects) project.deletion = ''
}

/** Keeps the rules of who may reach the cluster through kas, and nothing else of the file: kas itself remembers no more. */
export function accessRules({ ciAccess, userAccess }: ConfigurationFile): ConfigurationFile {
  return create(ConfigurationFileSchema, { ...(ciAccess ? { ciAccess } : {}), ...(userAccess ? { userAccess } : {}) })
}

export const isSameFile = (a: ConfigurationFile, b: ConfigurationFile): boolean => equals(ConfigurationFileSchema, a, b)
