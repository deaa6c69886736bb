import {
  byCredentialsSecret,
  type CoreSecret,
  type GitOpsDeployment,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  type GitOpsDeploymentSyncRun,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  type GitProject,
  GitProjects,
  keyOf,
  type Ref,
  refOf,
  Secrets,
} from '../../api/index.ts'
import type { Watch } from '../../engines/controller/index.ts'
import { type Books, byDependency, byEnvironment, byRepository, CREDENTIALS } from './books.ts'
import { sameRepository } from './same-repository.ts'

/** Whatever a deployment may wait for wakes it. */
export function watchesOf({ deployments, environments }: Books): Watch[] {
  const usersOf = ({ metadata }: GitOpsDeploymentManagedEnvironment): Ref[] =>
    deployments.by(byEnvironment, `${metadata.namespace}/${metadata.name}`).map(refOf)
  const ofEnvironment: Watch<GitOpsDeploymentManagedEnvironment> = { kind: GitOpsDeploymentManagedEnvironments, wakes: usersOf }
  const ofSecret: Watch<CoreSecret> = {
    kind: Secrets,
    ...CREDENTIALS,
    wakes: ({ metadata }) => environments.by(byCredentialsSecret, `${metadata.namespace}/${metadata.name}`).flatMap(usersOf),
  }
  const ofProject: Watch<GitProject> = {
    kind: GitProjects,
    wakes: ({ spec }) => deployments.by(byRepository.deployments, sameRepository(spec.url)).map(refOf),
  }
  const ofRun: Watch<GitOpsDeploymentSyncRun> = {
    kind: GitOpsDeploymentSyncRuns,
    wakes: ({ metadata, spec }) => [{ namespace: metadata.namespace, name: spec.gitopsDeploymentName }],
  }
  const ofDependency: Watch<GitOpsDeployment> = {
    kind: GitOpsDeployments,
    wakes: (deployment) => deployments.by(byDependency, keyOf(deployment.metadata)).map(refOf),
  }
  return [ofDependency, ofEnvironment, ofSecret, ofProject, ofRun]
}
