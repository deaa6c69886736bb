import type { Cache } from '../../adapters/kube/index.ts'
import { type GitOpsDeploymentSet, type GitProject, mayAccountRead, type Ref } from '../../api/index.ts'
import { gitRefFrom } from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'
import type { Simple } from './element.ts'
import { globOf, refsOf } from './names.ts'
import type { NamesWish } from './repositories.ts'

/**
 * What the generator asks of a repository, if it asks anything: as the service account that is to deploy, so that nobody sees more than
 * what it may follow. Throws `invalid` where there is no GitProject that it may read, in the same words whether there is another one or not.
 */
export function wishOf(
  { metadata: { namespace = '' }, spec: { template } }: GitOpsDeploymentSet,
  field: string,
  { branches, directories }: Simple,
  projects: Pick<Cache<GitProject>, 'get'>,
): NamesWish | undefined {
  const named = (branches ?? directories)?.project
  if (named === undefined) return undefined
  const serviceAccount = accountIn(template.spec)
  const project = projects.get(projectRef(named, namespace))
  if (!project || !mayAccountRead(project, { namespace, name: serviceAccount }))
    throw new Failure(
      'invalid',
      `${field}.${branches ? 'branches' : 'directories'}.project: there is no GitProject ${named} that service account ${namespace}/${serviceAccount} may read`,
      {
        reason: 'GitProjectNotFound',
        remedy: 'Correct the name, create it, or have its owner add the account to spec.grants.serviceAccounts.',
      },
    )
  const asked = { projectId: project.spec.path, projectUid: project.metadata.uid, namespace, serviceAccount }
  if (branches) return { ...asked, ref: { kind: 'refs', name: refsOf(branches) }, globs: ['**'] }
  return directories && { ...asked, ref: gitRefFrom(directories.revision), globs: [globOf(directories)] }
}

/** Another namespace comes first, and a slash. */
export function projectRef(named: string, home: string): Ref {
  const [first = '', second] = named.split('/')
  return second === undefined ? { name: first, namespace: home } : { namespace: first, name: second }
}

/** As the deployments will have it; one that differs from element to element is asked for by nobody. */
function accountIn({ serviceAccountName }: Record<string, unknown>): string {
  const isPlain = typeof serviceAccountName === 'string' && serviceAccountName !== '' && !serviceAccountName.includes('${')
  return isPlain ? serviceAccountName : 'default'
}
