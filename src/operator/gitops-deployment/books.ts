import type { Cache } from '../../adapters/kube/index.ts'
import {
  type ConfigMap,
  ConfigMaps,
  type CoreSecret,
  type GitOpsDeployment,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  type GitOpsDeploymentSyncRun,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  type GitProject,
  GitProjects,
  indexBy,
  keysBeside,
  Secrets,
  secretTypes,
} from '../../api/index.ts'
import type { Workshop } from '../../engines/controller/index.ts'
import { INVENTORY_LABEL } from '../../engines/gitops/index.ts'
import { dependencyKeys } from './dependencies.ts'
import { environmentNames } from './environment-name.ts'
import { sameRepository } from './same-repository.ts'

export const INVENTORIES = { labels: INVENTORY_LABEL }
export const CREDENTIALS = { fields: `type=${secretTypes.managedEnvironment}` }

/** What this controller reads. */
export interface Books {
  /** Throws why not all of a namespace is among them. */
  requireWhole(namespace: string): void
  deployments: Cache<GitOpsDeployment>
  environments: Cache<GitOpsDeploymentManagedEnvironment>
  secrets: Cache<CoreSecret>
  projects: Cache<GitProject>
  runs: Cache<GitOpsDeploymentSyncRun>
  inventories: Cache<ConfigMap>
}

/** By the repository, however it is spelt. */
export const byRepository = {
  deployments: indexBy(({ spec }: GitOpsDeployment) => [sameRepository(spec.source.repoURL)]),
  projects: indexBy(({ spec }: GitProject) => [sameRepository(spec.url)]),
}
/** By the deployments that one waits for. */
export const byDependency = indexBy(dependencyKeys)
/** By the managed environments that may be meant. */
export const byEnvironment = indexBy((deployment: GitOpsDeployment) =>
  environmentNames(deployment.spec).flatMap((name) => keysBeside(deployment, name)),
)
export const byDeployment = indexBy((run: GitOpsDeploymentSyncRun) => keysBeside(run, run.spec.gitopsDeploymentName))

export const openBooks = ({ caches }: Workshop): Books => ({
  requireWhole: caches.requireWhole,
  deployments: caches.of(GitOpsDeployments),
  environments: caches.of(GitOpsDeploymentManagedEnvironments),
  secrets: caches.of(Secrets, CREDENTIALS),
  projects: caches.of(GitProjects),
  runs: caches.of(GitOpsDeploymentSyncRuns),
  inventories: caches.of(ConfigMaps, INVENTORIES),
})
