import type { Cache } from '../../adapters/kube/index.ts'
import { type GitProject, mayAccountRead, type Ref } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import type { NamesWish } from './repositories.ts'

/** In whose name a repository is asked. */
interface Asking {
  namespace: string
  /** What the GitOpsDeployments will say, so that nobody sees more than what they may follow. */
  template: Record<string, unknown>
  /** The field that names the project. */
  field: string
}

/**
 * The GitProject of this name, and what is asked of it as the service account that is to deploy. Throws `invalid` where there is none
 * that it may read, in the same words whether there is another one or not.
 */
export function projectFor(
  named: string,
  { namespace, template, field }: Asking,
  projects: Pick<Cache<GitProject>, 'get'>,
): { project: GitProject; asked: Omit<NamesWish, 'ref' | 'globs'> } {
  const serviceAccount = accountIn(template)
  const project = projects.get(projectRef(named, namespace))
  if (!project || !mayAccountRead(project, { namespace, name: serviceAccount }))
    throw new Failure(
      'invalid',
      `${field}: there is no GitProject ${named} that service account ${namespace}/${serviceAccount} may read`,
      {
        reason: 'GitProjectNotFound',
        remedy: 'Correct the name, create it, or have its owner add the account to spec.grants.serviceAccounts.',
      },
    )
  return { project, asked: { projectId: project.spec.path, projectUid: project.metadata.uid, namespace, serviceAccount } }
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
