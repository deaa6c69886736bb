import type { Reach } from '../adapters/kube/index.ts'
import type { Controller, Workshop } from '../engines/controller/index.ts'
import type { Config } from './config.ts'
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
import { managedEnvironments } from './managed-environment/index.ts'
import { onboarding } from './onboarding/index.ts'
import { spaceRequests } from './space-request/index.ts'
import { workspaces } from './workspace/index.ts'

/** Every controller of the operator, in the order of a claim's life. This list is the only place where rooms meet. */
export const controllersOf = (workshop: Workshop, config: Config, source: Source, meter?: GitOpsMeter): Controller[] => [
  claimBinding(workshop),
  sandboxProvisioning(workshop),
  spaceRequests(workshop, { server: config.apiUrl, insecureSkipTLSVerify: config.insecureTargets }),
  sandboxTargets(workshop, { insecureSkipTLSVerify: config.insecureTargets }),
  targetLifecycle(workshop, { reach: reachOf(config) }),
  sandboxReclaim(workshop),
  environments(workshop),
  managedEnvironments(workshop, { reach: reachOf(config) }),
  onboarding(workshop),
  gitopsDeployments(workshop, { ...gitopsSettings(config, source), ...(meter && { meter }) }),
  syncRuns(workshop),
  dryRuns(workshop, gitopsSettings(config, source)),
  workspaces(workshop, { reach: reachOf(config) }),
]

const gitopsSettings = (config: Config, source: Source): GitOpsSettings => ({
  source,
  kubectl: config.kubectl,
  reach: reachOf(config),
  crossNamespace: config.crossNamespaceDependencies,
  mostWatches: config.mostWatches,
})

/** One switch for everybody who connects to where a tenant says. */
const reachOf = ({ refuseLocalTargets, apiUrl }: Config): Reach => ({ refuseLocal: refuseLocalTargets, own: apiUrl })
