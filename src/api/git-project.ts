import { withoutEnd } from '../std/index.ts'
import type { GitProject } from './kinds.ts'

/** To whom a GitProject is granted. `*` is every namespace, and every name. */
export interface Grantee {
  readonly namespace: string
  readonly name: string
}

/** A grant to one service account does not speak for its whole namespace: who has no name is covered by `*` only. */
export const covers = (grantee: Grantee, { namespace, name }: { namespace: string; name: string | undefined }): boolean =>
  ['*', namespace].includes(grantee.namespace) && (grantee.name === '*' || grantee.name === name)

/** Whether a service account may read it: that of its own namespace, or one that it is granted to. The first look only: kas decides. */
export const mayAccountRead = ({ metadata, spec }: GitProject, account: { namespace: string; name: string }): boolean =>
  metadata.namespace === account.namespace ||
  (spec.grants?.serviceAccounts ?? []).some((grantee) => covers({ namespace: '', ...grantee }, account))

/** The place of a repository, by its URL or its path there: with `.git` and slashes at the end it is the same one. */
export const withoutGit = (place: string): string => withoutEnd(place, '/').replace(/\.git$/, '')

/** Whether a reason says that a commit, or an artifact, is not as `spec.verify` asks: what was served before goes on. */
export const isRefusedCommit = (reason = ''): boolean => /^(?:Commit|Artifact(?:Not)?Sign)/.test(reason)
