import type { Cache, Caches } from '../../adapters/kube/index.ts'
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

export const BY = {
  url: 'gitops/url',
  environment: 'gitops/environment',
  secret: 'gitops/secret',
  deployment: 'gitops/deployment',
  uid: 'gitops/uid',
  dependency: 'gitops/dependency',
} as const

export const runsIn = (caches: Caches): Cache<GitOpsDeploymentSyncRun> =>
  caches.of(GitOpsDeploymentSyncRuns, {
    indexes: { [BY.deployment]: ({ metadata, spec }) => [`${metadata.namespace}/${spec.gitopsDeploymentName}`] },
  })

export const openBooks = ({ caches }: Workshop): Books => ({
  requireWhole: caches.requireWhole,
  deployments: caches.of(GitOpsDeployments, {
    indexes: {
      [BY.url]: ({ spec }) => [sameRepository(spec.source.repoURL)],
      [BY.dependency]: dependencyKeys,
      [BY.uid]: ({ metadata: { uid = '' } }) => [uid],
      [BY.environment]: ({ metadata, spec }) => environmentNames(spec).map((name) => `${metadata.namespace}/${name}`),
    },
  }),
  environments: caches.of(GitOpsDeploymentManagedEnvironments, {
    indexes: { [BY.secret]: ({ metadata, spec }) => [`${metadata.namespace}/${spec.credentialsSecret}`] },
  }),
  secrets: caches.of(Secrets, CREDENTIALS),
  projects: caches.of(GitProjects, { indexes: { [BY.url]: ({ spec }) => [sameRepository(spec.url)] } }),
  runs: runsIn(caches),
  inventories: caches.of(ConfigMaps, INVENTORIES),
})
