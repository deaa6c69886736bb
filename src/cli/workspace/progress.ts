import { type Workspace, workspaceStateOf, workspaceStepsOf } from '../../api/index.ts'

/** The status speaks of the spec as it is. */
export const isSeen = ({ metadata, status }: Workspace): boolean => status?.observedGeneration === metadata.generation

/** Pure. What has happened between two looks, a line each. */
export function news(before: Workspace | undefined, now: Workspace): string[] {
  const lines: string[] = []
  if (!before || workspaceStateOf(before) !== workspaceStateOf(now)) lines.push(workspaceStateOf(now))
  const were = new Map(before ? workspaceStepsOf(before).map(({ type, status }) => [type, status]) : [])
  for (const { type, status } of workspaceStepsOf(now))
    if (status === 'True' && were.get(type) !== 'True') lines.push(`  ${type}`)
  const [past, step] = [underWay(before), underWay(now)]
  if (step && step !== past) lines.push(`  ... ${step}`)
  const why = whyOf(now)
  if (why && why !== (before && whyOf(before))) lines.push(`  ${why}`)
  return lines
}

/** Pure. What keeps it, as its status says it; empty where nothing does. */
export function whyOf({ status }: Workspace): string {
  const { failure, waitingFor } = status ?? {}
  if (failure) return `${failure.reason}: ${failure.message}`
  return waitingFor ? `waits for ${waitingFor}` : ''
}

/** Pure. The object that a failure is of, before its message. The name of a step alone says no more than the reason does. */
export function causeOf({ status }: Workspace): string {
  const { cause = '' } = status?.failure ?? {}
  return cause.includes(' ') ? `${cause}: ` : ''
}

/** Pure. Where it stands, in a line. */
export function standOf(workspace: Workspace): string {
  const step = underWay(workspace)
  return [workspaceStateOf(workspace), whyOf(workspace) || (step && `in step ${step}`)].filter(Boolean).join(', ')
}

const underWay = (workspace: Workspace | undefined): string => {
  const { name = '', container } = workspace?.status?.step ?? {}
  return container ? `${name} (${container})` : name
}
