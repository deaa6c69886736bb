import { createAnswers, createStrangeMemory, type Meter, type Reach } from '../adapters/kube/index.ts'
import type { Controller, ControllerContext } from '../engines/controller/index.ts'
import { createRenderer } from '../engines/render/index.ts'
import { createYamlReaders, type Log, type Tracer, type YamlReaders } from '../std/index.ts'
import type { OperatorConfig } from './config.ts'
import { targetLifecycle } from './deployment-target/lifecycle/index.ts'
import { sandboxTargets } from './deployment-target/provisioned/index.ts'
import { sandboxReclaim } from './deployment-target/reclaim/index.ts'
import { claimBinding } from './deployment-target-claim/binding/index.ts'
import { sandboxProvisioning } from './deployment-target-claim/provisioning/index.ts'
import { environments } from './environment/index.ts'
import {
  dryRuns,
  type GitOpsMeter,
  type GitOpsSettings,
  gitopsDeployments,
  type Source,
  syncRuns,
} from './gitops-deployment/index.ts'
import { deploymentSets } from './gitops-deployment-set/index.ts'
import { managedEnvironments } from './managed-environment/index.ts'
import { inOnboarded } from './onboarded.ts'
import { onboarding } from './onboarding/index.ts'
import { previews } from './preview/index.ts'
import { type AgentAccess, spaceRequests } from './space-request/index.ts'
import { type DevfileSource, type WorkspaceGitSettings, workspaceClasses, workspacePools, workspaces } from './workspace/index.ts'

export interface ControllerMeans {
  agents?: AgentAccess | undefined
  meter?: GitOpsMeter
  targets?: Meter
  tracer?: Tracer
  /** Read once: who changes the files starts the operator anew. */
  authorities?: Pick<WorkspaceGitSettings, 'kasCa' | 'gitCa'>
}

/** Every controller of the operator, in the order of a claim's life. This list is the only place where rooms meet. */
export function controllersOf(
  context: ControllerContext,
  config: OperatorConfig,
  source: Source & Partial<DevfileSource>,
  { agents, meter, tracer, targets, authorities = {} }: ControllerMeans = {},
): Controller[] {
  const reach = reachOf(config, context, agents)
  // One pool of threads for all: each takes much memory.
  const yaml = createYamlReaders()
  const gitops = gitopsSettings(config, source, { reach, yaml, log: context.log })
  const spaces = {
    server: config.apiUrl,
    insecureSkipTLSVerify: config.insecureTargets,
    agents: agents && { ...agents, answers: reach.answers, memory: reach.memory },
  }
  return [
    claimBinding(context),
    sandboxProvisioning(context),
    inOnboarded(spaceRequests(context, spaces), context),
    sandboxTargets(context, { insecureSkipTLSVerify: config.insecureTargets }),
    targetLifecycle(context, { reach }),
    sandboxReclaim(context),
    inOnboarded(environments(context), context),
    inOnboarded(managedEnvironments(context, { reach }), context),
    onboarding(context),
    inOnboarded(gitopsDeployments(context, { ...gitops, ...(meter && { meter }), ...(tracer && { tracer }) }), context),
    inOnboarded(deploymentSets(context, source), context),
    inOnboarded(previews(context, source), context),
    syncRuns(context),
    inOnboarded(dryRuns(context, gitops), context),
    workspacePools(context, { reach, namespace: config.namespace }),
    // An operator that sees one namespace only cannot count for all.
    ...(config.namespace === undefined ? [workspaceClasses(context, yaml)] : []),
    inOnboarded(
      workspaces(context, {
        reach,
        own: ownApis(config, context),
        meter: targets,
        git: { kas: config.kasGit, ...authorities },
        defaults: { image: config.workspaceImage, namespace: config.leaseNamespace },
        tunnels: config.tunnels && { ...config.tunnels, kasCa: authorities.kasCa },
        devfiles: devfilesOf(source),
        yaml,
      }),
      context,
    ),
  ]
}

const devfilesOf = ({ fetchObjects, fetchDevfile }: Partial<DevfileSource>): DevfileSource | undefined =>
  fetchObjects && fetchDevfile && { fetchObjects, fetchDevfile }

/** Who looks after one namespace only has no business in the others. */
const ownApis = ({ namespace, apiUrl }: OperatorConfig, { kube }: ControllerContext): string[] | undefined =>
  namespace === undefined ? [kube.server, ...(apiUrl === undefined ? [] : [apiUrl])] : undefined

function gitopsSettings(
  config: OperatorConfig,
  source: Source,
  { reach, yaml, log }: { reach: Reach; yaml: YamlReaders; log: Log },
): GitOpsSettings {
  return {
    source,
    render: createRenderer({
      kubectl: config.kubectl,
      helm: config.helm,
      yaml: yaml.readYaml,
      yamlTree: yaml.readYamlTree,
      log,
    }),
    yaml: yaml.readYaml,
    reach,
    crossNamespace: config.crossNamespaceDependencies,
    mostWatches: config.mostWatches,
    mostObjects: config.mostObjects,
    mostFiles: config.mostFiles,
  }
}

/** One switch for everybody who connects to where a tenant says. The own API is what kubeconfigs that are handed out name. */
const reachOf = (
  { refuseLocalTargets, apiUrl }: OperatorConfig,
  { kube }: ControllerContext,
  agents: AgentAccess | undefined,
): Reach => ({
  refuseLocal: refuseLocalTargets,
  own: [apiUrl ?? kube.server, ...(agents ? [agents.url] : [])],
  answers: createAnswers(),
  memory: createStrangeMemory(),
})
