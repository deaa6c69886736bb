import { covers } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import type { Caller } from '../ports/ports.ts'
import { PROJECT_NOT_ACCESSIBLE } from '../ports/refusals.ts'
import type { Project } from '../projects/project.ts'

/**
 * The one rule of who may read what. In another namespace an agent or service account needs a grant; public visibility alone is not
 * enough.
 */
export function mayRead(caller: Caller, project: Project): boolean {
  if (caller.namespace === project.ref.namespace) return true
  // No name: a devfile read on behalf of the namespace; internal and public suffice.
  if (caller.name === undefined && project.visibility !== 'private') return true
  return (caller.kind === 'agent' ? project.agents : project.serviceAccounts).some((grantee) => covers(grantee, caller))
}

const titleOf = ({ kind, namespace, name }: Caller): string =>
  name === undefined ? `namespace ${namespace}` : `${kind === 'agent' ? 'Agent' : 'service account'} ${namespace}/${name}`

/** Nothing of the new one is looked at before. */
export const replaced = (caller: Caller, path: string): Failure =>
  new Failure('forbidden', `another GitProject has the path ${path} now than when ${titleOf(caller)} used it first`, {
    reason: 'ProjectReplaced',
    remedy: `If that is right, run: berth agent trust ${caller.name} --namespace ${caller.namespace}.`,
  })

/** Absent and closed sound the same, so that nobody learns which paths there are by asking. */
export function refusal(caller: Caller, path: string, isConfiguration = false): Failure {
  const field = caller.kind === 'agent' ? 'agents' : 'serviceAccounts'
  const remedy = `Create one, or add ${titleOf(caller)} to spec.grants.${field} of the GitProject.`
  const elsewhere = 'If it is in another namespace, name that in spec.configurationProjectNamespace of the Agent.'
  return new Failure('forbidden', `there is no GitProject with path ${path} that ${titleOf(caller)} may read`, {
    reason: PROJECT_NOT_ACCESSIBLE,
    remedy: isConfiguration ? `${remedy} ${elsewhere}` : remedy,
  })
}
