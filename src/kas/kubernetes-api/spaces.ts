import type { Cache } from '../../adapters/kube/index.ts'
import {
  type Agent,
  annotations,
  keyOf,
  nameOfSpaceAccount,
  type Ref,
  refOf,
  type SpaceRequest,
  userOfAccount,
} from '../../api/index.ts'
import type { TokenOwner } from './people.ts'
import type { Right } from './rules.ts'

export interface Spaces {
  /** Must have the index `BY_ACCOUNT`. */
  requests: Cache<SpaceRequest>
  /** The operator's own service account. */
  operator: Ref
}

/** The service account that lies beside each request whose space is in an agent's cluster. */
export const BY_ACCOUNT = {
  account: ({ metadata }: SpaceRequest): string[] =>
    metadata.annotations?.[annotations.agent] === undefined
      ? []
      : [keyOf({ name: nameOfSpaceAccount(metadata.uid ?? ''), namespace: metadata.namespace })],
}

/**
 * Who may act in an agent's cluster because of the spaces in it: the operator, as the agent itself, and the members of a space, as
 * its service account there. Only where the Agent takes spaces (docs/decisions/0165-spaces-of-agents.md).
 */
export function spaceRight({ requests, operator }: Spaces, agent: Agent, { account }: TokenOwner): Right | undefined {
  if (!account || agent.spec.spaces !== true) return undefined
  if (keyOf(account) === keyOf(operator)) return { by: 'spaces', impersonation: undefined }
  const request = requests
    .by('account', keyOf(account))
    .find(({ status }) => status?.namespaceAccess?.[0]?.agent === keyOf(refOf(agent)))
  const space = request?.status?.namespaceAccess?.[0]
  // Only what the operator said in the status counts: tenants write annotations.
  if (!space?.serviceAccountName) return undefined
  const user = userOfAccount({ namespace: space.name, name: space.serviceAccountName })
  return { by: 'spaces', impersonation: { user, groups: [], uid: '', extra: {} } }
}
