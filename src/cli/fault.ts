import {
  Agents,
  type AnyObject,
  type Condition,
  conditionOf,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeploymentSets,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  GitProjects,
  Previews,
  SpaceRequests,
  SpaceTiers,
  WorkspaceClasses,
  Workspaces,
} from '../api/index.ts'
import { isRecord } from '../std/index.ts'

/** An error that will not mend itself, in the object's own words. */
export interface ObjectFault {
  reason: string
  message: string
  /** Empty where the message says it. */
  remedy: string
}

/** Phases and states in which somebody has to act. */
const WRONG = ['Failed', 'Lost', 'Error']
/** Of these kinds the ones that are not ready are in error: nothing that they wait for comes by itself. */
const NEVER_WAITING = ['GitProject', 'GitOpsDeploymentManagedEnvironment']

/** The error that an object is in now, however young; nothing for one that is only under way. */
export function faultOf(object: AnyObject): ObjectFault | undefined {
  const conditions = conditionsOf(object)
  const ready = conditionOf(conditions, 'Ready')
  const error = conditionOf(conditions, 'ErrorOccurred')
  const isWrong = [wordIn(object.status, 'phase'), wordIn(object.status, 'actualState')].some((word) => WRONG.includes(word))
  const isUnready = ready?.status === 'False' && NEVER_WAITING.includes(object.kind)
  if (!isWrong && !isUnready && error?.status !== 'True') return undefined
  const told = failureOf(object)
  if (told) return told
  const said = ready?.status === 'False' ? ready : error
  return {
    reason: said?.reason ?? wordIn(object.status, 'phase'),
    // ErrorOccurred has the words that older clients compare; those of Ready say what helps, too.
    message: said?.message || (error?.status === 'True' && error.message) || 'it does not say why',
    remedy: '',
  }
}

/** Some statuses have the failure in parts, as those of workspaces do. */
function failureOf({ status }: AnyObject): ObjectFault | undefined {
  const failure = isRecord(status) ? status.failure : undefined
  const [reason, message, remedy] = [wordIn(failure, 'reason'), wordIn(failure, 'message'), wordIn(failure, 'remedy')]
  return reason ? { reason, message, remedy } : undefined
}

const wordIn = (value: unknown, name: string): string => {
  const word = isRecord(value) ? value[name] : undefined
  return typeof word === 'string' ? word : ''
}

/** The conditions of an object of which nothing is known. */
export const conditionsOf = ({ status }: AnyObject): Condition[] =>
  isRecord(status) && Array.isArray(status.conditions) ? status.conditions : []

/** Each kind after those that its objects stand on: a target that does not answer is why the workspaces in it do not run. */
const FROM_THE_GROUND = [
  SpaceTiers,
  DeploymentTargetClasses,
  WorkspaceClasses,
  GitProjects,
  Agents,
  SpaceRequests,
  DeploymentTargets,
  DeploymentTargetClaims,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  Previews,
  GitOpsDeploymentSets,
  GitOpsDeployments,
  GitOpsDeploymentSyncRuns,
  Workspaces,
].map(({ kind }) => kind)

/** What may be the cause of others comes before them: whoever reads from the top mends it first. */
export const causesFirst = (objects: readonly AnyObject[]): AnyObject[] =>
  objects.toSorted((one, other) => FROM_THE_GROUND.indexOf(one.kind) - FROM_THE_GROUND.indexOf(other.kind))
