import { withoutEnd } from '../std/index.ts'

/** To whom a GitProject is granted. `*` is every namespace, and every name. */
export interface Grantee {
  readonly namespace: string
  readonly name: string
}

/** A grant to one service account does not speak for its whole namespace: who has no name is covered by `*` only. */
export const covers = (grantee: Grantee, { namespace, name }: { namespace: string; name: string | undefined }): boolean =>
  ['*', namespace].includes(grantee.namespace) && (grantee.name === '*' || grantee.name === name)

/** The place of a repository, by its URL or its path there: with `.git` and slashes at the end it is the same one. */
export const withoutGit = (place: string): string => withoutEnd(place, '/').replace(/\.git$/, '')
