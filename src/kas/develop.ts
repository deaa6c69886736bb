import { isAllowed, type Kube } from '../adapters/kube/index.ts'
import { type Clock, remembered } from '../std/index.ts'
import type { Project } from './project.ts'

/** Somebody, as far as the cluster's roles can be about him. */
export interface RoleSubject {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** True when somebody develops a project: GitLab calls him a member with the role Developer. */
export type Develops = (person: RoleSubject, project: Project) => Promise<boolean>

/** It is the verb `develop` on the GitProject, so it is given by the cluster's own roles. */
export function createDevelops(kube: Kube, clock: Clock): Develops {
  const ask = ({ person, project: { ref } }: { person: RoleSubject; project: Project }): Promise<boolean> => {
    const { name: user, uid, groups, extra } = person
    return isAllowed(kube, { user, uid, groups, extra }, { group: 'berth.dev', resource: 'gitprojects', verb: 'develop', ...ref })
  }
  const answer = remembered(ask, ({ person, project }) => JSON.stringify([person, project.ref, project.uid]), clock)
  return (person, project) => answer({ person, project })
}
