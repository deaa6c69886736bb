import type { Condition, Workspace } from '../../api/index.ts'
import { stateOf } from './workspace.ts'

/** The conditions that are steps, in their order; the operator's other conditions are remarks. */
const STEPS = [
  'ClassResolved',
  'DevfileValid',
  'TargetReady',
  'Applied',
  'PodAdmitted',
  'PodScheduled',
  'PodPrepared',
  'PodInitialized',
  'ContainersStarted',
  'DeploymentReady',
]

export const stepsOf = ({ status }: Workspace): Condition[] =>
  STEPS.flatMap((type) => status?.conditions?.filter((condition) => condition.type === type) ?? [])

/** Whether the status speaks of the spec as it is. */
export const isSeen = ({ metadata, status }: Workspace): boolean => status?.observedGeneration === metadata.generation

/** Pure. What has happened between two looks, a line each. */
export function news(before: Workspace | undefined, now: Workspace): string[] {
  const lines: string[] = []
  if (!before || stateOf(before) !== stateOf(now)) lines.push(stateOf(now))
  const were = new Map(before ? stepsOf(before).map(({ type, status }) => [type, status]) : [])
  for (const { type, status } of stepsOf(now)) if (status === 'True' && were.get(type) !== 'True') lines.push(`  ${type}`)
  const [past, step] = [underWay(before), underWay(now)]
  if (step && step !== past) lines.push(`  ... ${step}`)
  const { waitingFor } = now.status ?? {}
  if (waitingFor && waitingFor !== before?.status?.waitingFor) lines.push(`  waits for ${waitingFor}`)
  return lines
}

const underWay = (workspace: Workspace | undefined): string => {
  const { name = '', container } = workspace?.status?.step ?? {}
  return container ? `${name} (${container})` : name
}
