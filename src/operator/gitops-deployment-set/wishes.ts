import type { Cache } from '../../adapters/kube/index.ts'
import type { GitOpsDeploymentSet, GitProject, Ref } from '../../api/index.ts'
import { Failure, isCommitId } from '../../std/index.ts'
import type { Simple } from './element.ts'
import { globOf, refsOf } from './names.ts'
import type { NamesWish } from './repositories.ts'

/** What the generator asks of a repository, if it asks anything. Throws `invalid` where the GitProject is not there. */
export function wishOf(
  { metadata: { namespace = '' } }: GitOpsDeploymentSet,
  field: string,
  { branches, directories }: Simple,
  projects: Pick<Cache<GitProject>, 'get'>,
): NamesWish | undefined {
  const named = (branches ?? directories)?.project
  if (named === undefined) return undefined
  const project = projects.get(projectRef(named, namespace))
  if (!project)
    throw new Failure('invalid', `${field}.${branches ? 'branches' : 'directories'}.project: there is no GitProject ${named}`, {
      reason: 'GitProjectNotFound',
      remedy: 'Correct the name, or create it.',
    })
  const asked = { projectId: project.spec.path, projectUid: project.metadata.uid, namespace }
  if (branches) return { ...asked, ref: { kind: 'refs', name: refsOf(branches) }, globs: ['**'] }
  return directories && { ...asked, ref: revisionOf(directories.revision), globs: [globOf(directories)] }
}

/** Another namespace comes first, and a slash. */
export function projectRef(named: string, home: string): Ref {
  const [first = '', second] = named.split('/')
  return second === undefined ? { name: first, namespace: home } : { namespace: first, name: second }
}

function revisionOf(name: string | undefined): NamesWish['ref'] {
  if (!name) return { kind: 'default' }
  if (isCommitId(name)) return { kind: 'commit', name }
  return { kind: name.startsWith('refs/') ? 'full' : 'short', name }
}
