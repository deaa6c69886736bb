/** A service account, as token reviews and role bindings name it. */
export interface ServiceAccountName {
  readonly namespace: string
  readonly name: string
}

/** The service account that has this user name; `undefined` for the names of others. */
export function accountOfUser(user: string): ServiceAccountName | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? []
  return namespace !== undefined && name !== undefined ? { namespace, name } : undefined
}

/** The name under which the API server knows a service account. */
export const userOfAccount = ({ namespace, name }: ServiceAccountName): string => `system:serviceaccount:${namespace}:${name}`

/** The groups that follow from a user name alone; of others the API server tells only the user's own requests. */
export function groupsOfUser(user: string): string[] {
  const account = accountOfUser(user)
  const ofAccount = account ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`] : []
  return [...ofAccount, 'system:authenticated']
}
