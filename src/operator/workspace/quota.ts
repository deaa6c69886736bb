import { keyOf, refOf, type Workspace, type WorkspaceClass } from '../../api/index.ts'
import { classObstacle, counts } from './class.ts'
import type { Obstacle } from './obstacle.ts'

/** Whether the class limits how many workspaces it has. */
export const hasQuota = ({ spec }: WorkspaceClass): boolean =>
  (spec.workspacesQuota ?? -1) >= 0 || (spec.workspacesPerUserQuota ?? -1) >= 0

export const hasPlace = ({ status }: Workspace): boolean => status?.class?.settings !== undefined

interface Rule {
  field: 'workspacesQuota' | 'workspacesPerUserQuota'
  most: number
  /** Who has the places. */
  holders: Workspace[]
}

/**
 * Why there is no place for the workspace; nothing when there is one. Those that wait get the places in the order in which they
 * were created, so that nobody waits for ever; one that its owner's quota holds back holds nobody else back.
 */
export function overQuota(
  workspace: Workspace,
  found: WorkspaceClass,
  { all, reserved }: { all: readonly Workspace[]; reserved: string | undefined },
): Obstacle | undefined {
  const others = all.filter((other) => counts(other) && other.metadata.uid !== workspace.metadata.uid)
  const isIn = (other: Workspace) => hasPlace(other) || other.metadata.uid === reserved
  const holders = others.filter(isIn)
  for (const other of others.filter((each) => !isIn(each) && isBefore(each, workspace)).sort(byAge)) {
    if (!brokenRule(other, found, holders)) holders.push(other)
  }
  const broken = brokenRule(workspace, found, holders)
  return broken && refusal(workspace, found, broken)
}

function brokenRule({ spec }: Workspace, { spec: limits }: WorkspaceClass, holders: readonly Workspace[]): Rule | undefined {
  const rules: Rule[] = [
    { field: 'workspacesQuota', most: limits.workspacesQuota ?? -1, holders: [...holders] },
    {
      field: 'workspacesPerUserQuota',
      most: limits.workspacesPerUserQuota ?? -1,
      holders: holders.filter((other) => other.spec.owner === spec.owner),
    },
  ]
  return rules.find((rule) => rule.most >= 0 && rule.holders.length >= rule.most)
}

const MOST_NAMED = 8

/** Which quota it is, and who has it; of namespaces that are not the workspace's own only how many. */
function refusal(workspace: Workspace, { metadata }: WorkspaceClass, { field, most, holders }: Rule): Obstacle {
  const { namespace } = workspace.metadata
  const known = holders.filter((other) => other.metadata.namespace === namespace || isSameOwner(other, workspace))
  const named = known.slice(0, MOST_NAMED).map((other) => `${keyOf(refOf(other))} (${other.spec.owner ?? 'nobody'})`)
  const rest = holders.length - named.length
  const list = [...named, ...(rest > 0 ? [named.length > 0 ? `${rest} more` : `${rest} of other namespaces`] : [])].join(', ')
  const whose = field === 'workspacesQuota' ? '' : ` of ${workspace.spec.owner ?? 'nobody'}`
  const allows = `WorkspaceClass ${metadata.name} allows ${most} workspaces${whose} by its ${field}`
  const message = holders.length > 0 ? `${allows}; they are ${list}` : `${allows}, which is none`
  const remedy = 'Terminate one of them, or have the quota raised; this one starts by itself then.'
  const refused = classObstacle('WorkspaceQuotaExceeded', message, remedy, metadata.name)
  return { ...refused, waitingFor: `a place in WorkspaceClass ${metadata.name}` }
}

const isSameOwner = (one: Workspace, other: Workspace): boolean =>
  one.spec.owner !== undefined && one.spec.owner === other.spec.owner

const rankOf = (each: Workspace): string => `${each.metadata.creationTimestamp ?? ''} ${keyOf(refOf(each))}`

const isBefore = (one: Workspace, other: Workspace): boolean => rankOf(one) < rankOf(other)

const byAge = (one: Workspace, other: Workspace): number => (isBefore(one, other) ? -1 : 1)
