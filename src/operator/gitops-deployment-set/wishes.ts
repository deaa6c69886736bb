import type { Cache } from '../../adapters/kube/index.ts'
import type { GitOpsDeploymentSet, GitProject } from '../../api/index.ts'
import { gitRefFrom } from '../../rpc/index.ts'
import { type NamesWish, projectFor, refsOf } from '../repository-names/index.ts'
import type { Simple } from './element.ts'
import { globOf } from './names.ts'

/** What the generator asks of a repository, if it asks anything. Throws `invalid` where there is no GitProject that it may read. */
export function wishOf(
  { metadata: { namespace = '' }, spec }: GitOpsDeploymentSet,
  at: string,
  { branches, directories }: Simple,
  projects: Pick<Cache<GitProject>, 'get'>,
): NamesWish | undefined {
  const named = (branches ?? directories)?.project
  if (named === undefined) return undefined
  const field = `${at}.${branches ? 'branches' : 'directories'}.project`
  const { asked } = projectFor(named, { namespace, template: spec.template.spec, field }, projects)
  if (branches) return { ...asked, ref: { kind: 'refs', name: refsOf(branches) }, globs: ['**'] }
  return directories && { ...asked, ref: gitRefFrom(directories.revision), globs: [globOf(directories)] }
}
