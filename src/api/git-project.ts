import { withoutEnd } from '../std/index.ts'
import type { GitProjectSpec, GitProjectStatus } from './generated/git-project.ts'
import type { CustomObject, Kind } from './kube-object.ts'

export type { GitProjectSpec, GitProjectStatus }

/** A Git repository that kas knows, and who may read it. */
export type GitProject = CustomObject<GitProjectSpec, GitProjectStatus>

/** Where a repository is, by its URL or its path there: with `.git` and slashes at the end it is the same one. */
export const withoutGit = (place: string): string => withoutEnd(place, '/').replace(/\.git$/, '')

export const GitProjects: Kind<GitProject> = {
  group: 'berth.dev',
  version: 'v1alpha1',
  kind: 'GitProject',
  plural: 'gitprojects',
  namespaced: true,
}
