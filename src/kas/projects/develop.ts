import { GitProjects } from '../../api/index.ts'
import type { Permissions } from '../../engines/permissions/index.ts'
import type { Project } from './project.ts'

/** Somebody, as far as the cluster's roles can be about him. */
export interface RoleSubject {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** True when somebody develops a project: GitLab calls him a member with the role Developer. `onAsk`: told when no answer is remembered. */
export type Develops = (person: RoleSubject, project: Project, onAsk?: () => void) => Promise<boolean>

/** It is the verb `develop` on the GitProject, so it is given by the cluster's own roles. */
export const createDevelops =
  ({ may }: Pick<Permissions, 'may'>): Develops =>
  ({ name: user, uid, groups, extra }, { ref: { name, namespace = '' } }, onAsk) =>
    may({ user, uid, groups, extra }, { verb: 'develop', kind: GitProjects, name, namespace }, onAsk)
