import type { GitProjectSpec, GitProjectStatus } from './generated/git-project.ts'
import type { CustomObject, Kind } from './kube-object.ts'

export type { GitProjectSpec, GitProjectStatus }

/** A Git repository that kas knows, and who may read it. */
export type GitProject = CustomObject<GitProjectSpec, GitProjectStatus>

export const GitProjects: Kind<GitProject> = {
  group: 'berth.dev',
  version: 'v1alpha1',
  kind: 'GitProject',
  plural: 'gitprojects',
  namespaced: true,
}
