import { Failure } from '../../std/index.ts'
import type { Caller } from '../ports.ts'
import type { Grantee, Project } from '../project.ts'

/** The one rule of who may read what. */
export function mayRead(caller: Caller, project: Project): boolean {
  if (caller.namespace === project.ref.namespace) return true
  if (project.visibility !== 'private') return true
  return (caller.kind === 'agent' ? project.agents : project.serviceAccounts).some((grantee) => covers(grantee, caller))
}

/** A grant to one service account does not speak for its whole namespace. */
const covers = (grantee: Grantee, caller: Caller): boolean =>
  grantee.namespace === caller.namespace && (grantee.name === '*' || grantee.name === caller.name)

const titleOf = ({ kind, namespace, name }: Caller): string =>
  name === undefined ? `namespace ${namespace}` : `${kind === 'agent' ? 'Agent' : 'service account'} ${namespace}/${name}`

/** Absent and closed sound the same, so that nobody learns which paths there are by asking. */
export function refusal(caller: Caller, path: string): Failure {
  const field = caller.kind === 'agent' ? 'agents' : 'serviceAccounts'
  return new Failure('forbidden', `there is no GitProject with path ${path} that ${titleOf(caller)} may read`, {
    reason: 'ProjectNotAccessible',
    remedy: `Create one, or add ${titleOf(caller)} to spec.grants.${field} of the GitProject.`,
  })
}
