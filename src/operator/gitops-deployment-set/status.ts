import type { EventRecorder } from '../../adapters/kube/index.ts'
import {
  conditionOf,
  type GitOpsDeployment,
  type GitOpsDeploymentSet,
  type GitOpsDeploymentSetStatus,
  type Statement,
} from '../../api/index.ts'
import type { StatusDraft } from '../../engines/controller/index.ts'
import { asSentence, beginningOf, type Failure, sayFailure } from '../../std/index.ts'
import { inEffect } from './in-effect.ts'
import type { Member, Plan } from './plan.ts'

export type Unready = NonNullable<GitOpsDeploymentSetStatus['unready']>[number]

interface Told {
  members: readonly Member[]
  plan: Plan
  /** Those for which there is no element any more. */
  leaving: number
  /** Why these stay for now. */
  hold: string | undefined
  there: ReadonlyMap<string, GitOpsDeployment>
  /** Those that the API server did not accept. */
  refused: readonly Unready[]
}

/** The schema takes so many. */
const MOST_UNREADY = 20
const MOST_TEXT = 1024

/** As it was found; what was written since shows with the next look. */
export function statusOf(set: GitOpsDeploymentSet, told: Told): StatusDraft & { conditions: Statement[] } {
  const { members, plan, leaving, there, refused } = told
  const updated = members.filter(({ isUpdated }) => isUpdated)
  const unready = [...refused, ...updated.filter(({ isReady }) => !isReady).map(({ name }) => unreadyOf(name, there.get(name)))]
  return {
    deployments: {
      total: members.length,
      updated: updated.length,
      ready: updated.filter(({ isReady }) => isReady).length,
      ...(leaving > 0 && { leaving }),
    },
    ...(plan.step !== undefined && { step: plan.step + 1 }),
    ...(unready.length > 0 && { unready: unready.slice(0, MOST_UNREADY) }),
    observedGeneration: set.metadata.generation ?? 0,
    conditions: [{ type: 'Ready', observedGeneration: set.metadata.generation ?? 0, ...readiness(set, told, unready) }],
  }
}

function unreadyOf(name: string, live: GitOpsDeployment | undefined): Unready {
  if (!live) return { name, reason: 'Pending' }
  const { reason, message } = inEffect(live)
  return { name, reason, message: beginningOf(message, MOST_TEXT) }
}

function readiness(
  { spec }: GitOpsDeploymentSet,
  { members, plan, hold, leaving, refused }: Told,
  [first, ...others]: readonly Unready[],
): Omit<Statement, 'type'> {
  if (refused[0])
    return {
      status: 'False',
      reason: 'DeploymentRefused',
      message: `GitOpsDeployment ${refused[0].name}: ${refused[0].message}${more(refused.length - 1)}`,
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

const WARNED = ['DeploymentRefused', 'RemovalHeld']

/** What somebody has to do something about, once. */
export function tell(set: GitOpsDeploymentSet, { conditions }: { conditions: Statement[] }, events: EventRecorder): void {
  const [now, before] = [conditionOf(conditions, 'Ready'), conditionOf(set.status?.conditions, 'Ready')]
  if (!now || !WARNED.includes(now.reason) || before?.message === now.message) return
  events.record(set, { type: 'Warning', reason: now.reason, message: now.message })
}

/** What is there stays as it is. */
export const failedStatus = ({ metadata, status }: GitOpsDeploymentSet, failure: Failure): StatusDraft => {
  const { conditions: _, ...others } = status ?? {}
  const [state, reason] = failure.code === 'invalid' ? (['False', 'Invalid'] as const) : (['Unknown', 'ReconcileFailed'] as const)
  const observedGeneration = metadata.generation ?? 0
  return {
    ...others,
    observedGeneration,
    conditions: [
      { type: 'Ready', status: state, reason: failure.reason ?? reason, message: sayFailure(failure), observedGeneration },
    ],
  }
}
