/** To whom a GitProject is granted. `*` is every namespace, and every name. */
export interface Grantee {
  readonly namespace: string
  readonly name: string
}

/** A grant to one service account does not speak for its whole namespace: who has no name is covered by `*` only. */
export const covers = (grantee: Grantee, { namespace, name }: { namespace: string; name: string | undefined }): boolean =>
  ['*', namespace].includes(grantee.namespace) && (grantee.name === '*' || grantee.name === name)
