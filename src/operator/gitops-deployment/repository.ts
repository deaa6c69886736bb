import { covers, type GitOpsDeployment, type GitProject } from '../../api/index.ts'
import type { GitRef } from '../../rpc/index.ts'
import { Failure, redactUrls } from '../../std/index.ts'
import { type Books, BY } from './books.ts'
import { sameRepository } from './same-repository.ts'

/** The GitProject of the URL: the own namespace's first, then one that is granted. Whether it may be read, kas decides. */
export function projectOf({ metadata: { namespace = '' }, spec }: GitOpsDeployment, { projects }: Books): GitProject {
  const found = projects.by(BY.url, sameRepository(spec.source.repoURL))
  const account = spec.serviceAccountName || 'default'
  const rank = (project: GitProject) =>
    project.metadata.namespace === namespace ? 0 : isGrantedTo(project, namespace, account) ? 1 : 2
  const [best] = found.filter((project) => rank(project) < 2).sort((a, b) => rank(a) - rank(b) || (ageOf(a) < ageOf(b) ? -1 : 1))
  if (best) return best
  throw new Failure(
    'invalid',
    `spec.source.repoURL ${redactUrls(spec.source.repoURL)} belongs to no GitProject that service account ${namespace}/${account} may read`,
    {
      reason: 'GitProjectNotFound',
      remedy: `Create a GitProject with this url in namespace ${namespace}, or let its owner add the account to spec.grants.serviceAccounts`,
    },
  )
}

/** The oldest wins, as at kas: a project that is added later changes nothing for what works. */
const ageOf = ({ metadata }: GitProject): string => `${metadata.creationTimestamp} ${metadata.name}`

const isGrantedTo = ({ spec: { grants } }: GitProject, namespace: string, account: string): boolean =>
  (grants?.serviceAccounts ?? []).some((grantee) => covers({ namespace: '', ...grantee }, { namespace, name: account }))

/** What a source follows. A plain name is a branch or else a tag: kas looks which of them is there. */
export function revisionOf({ targetRevision, semver }: { targetRevision?: string; semver?: string }): GitRef {
  if (semver?.trim()) return { kind: 'semver', name: semver.trim() }
  const name = targetRevision?.trim() ?? ''
  if (name === '' || name === 'HEAD') return { kind: 'default' }
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(name)) return { kind: 'commit', name }
  if (name.startsWith('refs/heads/')) return { kind: 'branch', name: name.slice('refs/heads/'.length) }
  if (name.startsWith('refs/tags/')) return { kind: 'tag', name: name.slice('refs/tags/'.length) }
  return name.startsWith('refs/') ? { kind: 'full', name } : { kind: 'short', name }
}
