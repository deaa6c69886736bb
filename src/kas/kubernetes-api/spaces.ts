import type { Cache } from '../../adapters/kube/index.ts'
import {
  type Agent,
  annotations,
  indexBy,
  keyOf,
  keysBeside,
  nameOfSpaceAccount,
  refOf,
  type ServiceAccountName,
  type SpaceRequest,
  userOfAccount,
} from '../../api/index.ts'
import type { TokenOwner } from './people.ts'
import type { Right } from './rules.ts'

export interface Spaces {
  requests: Cache<SpaceRequest>
  /** The operator's own service account. */
  operator: ServiceAccountName
}

/** The service account that lies beside each request whose space is in an agent's cluster. */
const byAccount = indexBy((request: SpaceRequest) =>
  request.metadata.annotations?.[annotations.agent] === undefined
    ? []
    : keysBeside(request, nameOfSpaceAccount(request.metadata.uid ?? '')),
)

/**
 * Who may act in an agent's cluster because of the spaces in it: the operator, as the agent itself, and the members of a space, as
 * its service account there. Only where the Agent takes spaces (docs/decisions/0165-spaces-in-the-clusters-of-agents.md).
 */
export function spaceRight({ requests, operator }: Spaces, agent: Agent, { account }: TokenOwner): Right | undefined {
  if (!account || agent.spec.spaces !== true) return undefined
  if (keyOf(account) === keyOf(operator)) return { by: 'spaces', impersonation: undefined }
  const request = requests
    .by(byAccount, keyOf(account))
    .find(({ status }) => status?.namespaceAccess?.[0]?.agent === keyOf(refOf(agent)))
  const space = request?.status?.namespaceAccess?.[0]
  // Only what the operator said in the status counts: tenants write annotations.
  if (!space?.serviceAccountName) return undefined
  const user = userOfAccount({ namespace: space.name, name: space.serviceAccountName })
  return { by: 'spaces', impersonation: { user, groups: [], uid: '', extra: {} } }
}
