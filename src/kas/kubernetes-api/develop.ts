import type { Kube } from '../../adapters/kube/index.ts'
import type { Clock } from '../../std/index.ts'
import type { Project } from '../project.ts'
import { remembered } from '../remembered.ts'
import type { Person } from './people.ts'

/** Somebody, as far as the cluster's roles can be about him. */
export type Subject = Pick<Person, 'name' | 'uid' | 'groups' | 'extra'>

/** Whether somebody develops a project: what GitLab calls a member with the role Developer. */
export type Develops = (person: Subject, project: Project) => Promise<boolean>

interface AccessReview {
  status?: { allowed?: boolean }
}

/** It is the verb `develop` on the GitProject, so it is given by the cluster's own roles. */
export function createDevelops(kube: Kube, clock: Clock): Develops {
  const ask = async ({ person, project }: { person: Subject; project: Project }): Promise<boolean> => {
    const { status } = await kube.post<AccessReview>('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: person.name,
        uid: person.uid,
        groups: person.groups,
        extra: person.extra,
        resourceAttributes: {
          group: 'berth.dev',
          resource: 'gitprojects',
          verb: 'develop',
          namespace: project.ref.namespace,
          name: project.ref.name,
        },
      },
    })
    return status?.allowed === true
  }
  const answer = remembered(ask, ({ person, project }) => JSON.stringify([person, project.ref, project.uid]), clock)
  return (person, project) => answer({ person, project })
}
