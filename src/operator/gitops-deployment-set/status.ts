import type { EventRecorder } from '../../adapters/kube/index.ts'
import {
  conditionOf,
  type GitOpsDeployment,
  type GitOpsDeploymentSet,
  type GitOpsDeploymentSetStatus,
  inEffect,
  type Statement,
} from '../../api/index.ts'
import type { StatusDraft } from '../../engines/controller/index.ts'
import { asSentence, beginningOf, type Failure } from '../../std/index.ts'
import { type Removals, removalStatement, tellOfRemoval } from '../removal-guard/index.ts'
import { viewStatement } from '../repository-names/index.ts'
import type { Member, Plan } from './plan.ts'

export type Unready = NonNullable<GitOpsDeploymentSetStatus['unready']>[number]

interface Told {
  members: readonly Member[]
  plan: Plan
  /** Those for which there is no element any more, also when they are on their way out. */
  leaving: number
  /** Why these stay for now. */
  hold: string | undefined
  removals: Removals | undefined
  there: ReadonlyMap<string, GitOpsDeployment>
  /** Those that were not accepted. */
  refused: readonly Unready[]
  /** Why nothing newer was seen of its repositories. */
  unseen: Failure | undefined
  /** Whether it asks anything of repositories. */
  asks: boolean
}

/** The schema takes so many. */
const MOST_UNREADY = 20
const MOST_TEXT = 1024

/** As it was found; what was written since shows with the next look. */
export function statusOf(set: GitOpsDeploymentSet, told: Told): StatusDraft & { conditions: Statement[] } {
  const { members, plan, leaving, removals, hold } = told
  const unready = unreadyIn(told)
  const observedGeneration = set.metadata.generation ?? 0
  const view = told.asks ? [viewStatement(told.unseen, 'branches and directories')] : []
  const statements = [{ type: 'Ready', ...readiness(set, told, unready) }, ...removalStatement(set, hold), ...view]
  return {
    deployments: {
      total: members.length,
      updated: members.filter(({ isUpdated }) => isUpdated).length,
      ready: members.filter(({ isUpdated, isReady }) => isUpdated && isReady).length,
      ...(leaving > 0 && { leaving }),
    },
    ...(plan.step !== undefined && { step: plan.step + 1 }),
    ...(unready.length > 0 && { unready: unready.slice(0, MOST_UNREADY) }),
    ...(removals && { removals }),
    observedGeneration,
    conditions: statements.map((statement) => ({ ...statement, observedGeneration })),
  }
}

/** Those that somebody has to look after come first. */
function unreadyIn({ members, refused, there }: Told): Unready[] {
  const names = new Set(refused.map(({ name }) => name))
  const others = members.filter(
    ({ name, isUpdated, isReady, isBlocked }) => !names.has(name) && (isUpdated ? !isReady : isBlocked),
  )
  return [...refused, ...others.map(({ name, isBlocked }) => unreadyOf(name, there.get(name), isBlocked))].map(
    ({ name, reason, message }) => ({ name, reason, ...(message !== undefined && { message: cut(message) }) }),
  )
}

const cut = (text: string): string => (text.length > MOST_TEXT ? beginningOf(text, MOST_TEXT - 1) : text)

function unreadyOf(name: string, live: GitOpsDeployment | undefined, isBlocked: boolean): Unready {
  if (isBlocked) return { name, reason: 'Deleting', message: 'It is on its way out, and is made anew when it is gone.' }
  return live ? { name, ...inEffect(live) } : { name, reason: 'Pending' }
}

function readiness(
  { spec }: GitOpsDeploymentSet,
  { members, plan, hold, leaving, refused }: Told,
  [first, ...others]: readonly Unready[],
): Omit<Statement, 'type'> {
  const [worst] = refused
  if (worst)
    return {
      status: 'False',
      reason: 'DeploymentRefused',
      message: `GitOpsDeployment ${worst.name}: ${worst.message ?? worst.reason}${more(refused.length - 1)}`,
    }
  const outdated = members.filter(({ isUpdated }) => !isUpdated).length
  const where = plan.step === undefined ? '' : ` in step ${plan.step + 1} of the rollout`
  const behind = first && `${first.name} is not in effect and healthy (${first.reason})${more(others.length)}`
  if (spec.suspend && (outdated > 0 || leaving > 0))
    return {
      status: 'Unknown',
      reason: 'Suspended',
      message: `spec.suspend: ${outdated} are to be made or changed, and ${leaving} to go.`,
    }
  if (outdated > 0)
    return {
      status: 'Unknown',
      reason: 'RollingOut',
      message: asSentence(`${outdated} of ${members.length} are to be made or changed${where}${behind ? `; ${behind}` : ''}`),
    }
  if (behind) return { status: 'False', reason: 'DeploymentsNotReady', message: asSentence(`GitOpsDeployment ${behind}${where}`) }
  if (hold !== undefined) return { status: 'False', reason: 'RemovalHeld', message: asSentence(hold) }
  if (leaving > 0) return { status: 'Unknown', reason: 'Removing', message: `${leaving} are on their way out.` }
  return { status: 'True', reason: 'Ready', message: `All ${members.length} are in effect and healthy.` }
}

const more = (count: number): string => (count > 0 ? `, and so are ${count} more` : '')

/** What somebody has to do something about, once. */
export function tell(
  set: GitOpsDeploymentSet,
  { conditions, hold }: { conditions: Statement[]; hold: string | undefined },
  events: EventRecorder,
): void {
  tellOfRemoval(set, hold, events)
  const { reason, message = '' } = conditions.find(({ type }) => type === 'Ready') ?? {}
  if (reason !== 'DeploymentRefused' || conditionOf(set.status?.conditions, 'Ready')?.message === message) return
  events.record(set, { type: 'Warning', reason, message })
}
