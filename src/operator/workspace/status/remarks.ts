import {
  conditionOf,
  notTrue,
  type Statement,
  type Workspace,
  type WorkspaceClass,
  type WorkspaceStatus,
} from '../../../api/index.ts'
import type { ControllerContext, Next } from '../../../engines/controller/index.ts'
import type { Assessment } from '../actual-state/index.ts'
import { type Backup, onBackups } from '../backup/backup.ts'
import type { GitFindings } from '../git/index.ts'
import { scheduleFrom } from '../lifetime/schedule.ts'
import { type ChosenClass, onClass } from '../place/class.ts'
import type { Obstacle } from '../place/obstacle.ts'
import { onSizes, type Sizes } from '../project/sizes.ts'

/** Conditions that say what of the wishes is not fulfilled, though the workspace runs. */
const REMARKS = [
  'ProjectCloned',
  'GitCredentials',
  'VariablesInherited',
  'ScheduleValid',
  'ResourcesCurrent',
  'BackedUp',
  'ObjectsCurrent',
] as const

interface Noticed {
  chosen?: ChosenClass | undefined
  found?: WorkspaceClass | undefined
  project?: ProjectFindings | undefined
  variables?: WorkspaceStatus['variables']
  sizes?: Sizes | undefined
  backups?: Backup[] | undefined
  /** The objects are not made because of it; the assessment is of those that are there all the same. */
  obstacle?: Obstacle | undefined
  assessment?: Assessment | undefined
}

/** The project that a workspace names, and whether its pod has cloned it. */
export interface ProjectFindings extends GitFindings {
  isPrepared: boolean
  /** There were files where it was to be cloned. */
  hadFiles: boolean
}

/** Said as long as it is not done: an empty folder, or a limit that does not hold, without a word would look like a fault. */
export function remarksOn(workspace: Workspace, noticed: Noticed): Statement[] {
  const { chosen, found, project, variables, sizes, backups, obstacle } = noticed
  const remarks = [
    ...onObjects(workspace, noticed),
    ...(project ? onProject(project, conditionOf(workspace.status?.conditions, 'ProjectCloned')?.reason) : []),
    ...onVariables(variables),
    ...onBackups(workspace, backups),
    ...(sizes ? onSizes(workspace, sizes) : []),
    ...(chosen ? [...onSchedule(workspace, chosen), ...onClass(workspace, chosen, found)] : []),
  ]
  // A condition stays until it is said otherwise.
  const over = PASSING.filter(
    (type) =>
      chosen &&
      (sizes || type !== 'ResourcesCurrent') &&
      (!obstacle || type !== 'ObjectsCurrent') &&
      isFalse(workspace, type) &&
      !remarks.some((remark) => remark.type === type),
  ).map((type): Statement => ({ type, status: 'True', reason: 'Mended', message: 'nothing is amiss any more' }))
  return [...remarks, ...over].map((statement) => ({ ...statement, observedGeneration: workspace.metadata.generation ?? 0 }))
}

const PASSING = ['VariablesInherited', 'ScheduleValid', 'ClassCurrent', 'ResourcesCurrent', 'BackedUp', 'ObjectsCurrent']

const isFalse = ({ status }: Workspace, type: string): boolean => conditionOf(status?.conditions, type)?.status === 'False'

/** A running workspace goes on when a change of it cannot be made: then it is not as the Workspace says. */
export function onObjects(workspace: Workspace, { obstacle, assessment }: Noticed): Statement[] {
  if (!obstacle || obstacle.isUnderWay) return []
  const { state } = assessment ?? {}
  const isUp = state === 'Running' || state === 'Starting'
  if (!isUp && !isFalse(workspace, 'ObjectsCurrent')) return []
  const { step, reason, message, remedy } = obstacle
  const text = `${isUp ? 'what runs was made before, and changes have no effect now' : 'it cannot be made anew'}: ${step}: ${message}. ${remedy}`
  return [notTrue('ObjectsCurrent', reason, text)]
}

/** A schedule that cannot be read does nothing, and keeps the workspace from nothing. */
function onSchedule({ spec }: Workspace, { name, settings }: ChosenClass): Statement[] {
  const written = spec.schedule ?? settings.schedule
  const read = written && scheduleFrom(written)
  if (!read || !('wrong' in read)) return []
  const field = spec.schedule ? 'spec.schedule' : `spec.schedule of WorkspaceClass ${name}`
  const message = `${field}.${read.wrong}. Write five cron fields, such as 0 19 * * mon-fri, and a time zone such as Europe/Berlin.`
  return [notTrue('ScheduleValid', 'ScheduleInvalid', message)]
}

function onVariables({ leftOut = [] }: NonNullable<WorkspaceStatus['variables']> = {}): Statement[] {
  if (leftOut.length === 0) return []
  const message = `left out: ${leftOut.join('; ')}. Correct the Secrets, then have the variables frozen again with \`berth variables refresh\`.`
  return [notTrue('VariablesInherited', 'VariablesLeftOut', message)]
}

/** `before` is the last reason: without a pod there is nothing newer. */
function onProject(project: ProjectFindings, before: string | undefined): Statement[] {
  const { trouble } = project
  const cloned = { ...clonedOf(project, before), type: 'ProjectCloned' }
  return trouble ? [cloned, notTrue('GitCredentials', 'SecretNotAccessible', `${trouble}. Create it, or correct it.`)] : [cloned]
}

function clonedOf(project: ProjectFindings, before: string | undefined): Omit<Statement, 'type'> {
  const { name, isThere, known, git, isPrepared, hadFiles } = project
  const folder = git?.folder ?? name
  if (isPrepared ? hadFiles : before === 'FolderNotEmpty') {
    const message = `folder ${folder} of the projects had files in it before GitProject ${name} could be cloned, so that nothing was cloned. Move them elsewhere and restart the workspace: then it is cloned.`
    return { status: 'False', reason: 'FolderNotEmpty', message }
  }
  if (isPrepared || before === 'Cloned') {
    return isThere
      ? { status: 'True', reason: 'Cloned', message: `GitProject ${name} is in folder ${folder} of the projects` }
      : {
          status: 'True',
          reason: 'Cloned',
          message: `GitProject ${name} is in folder ${folder} of the projects. The GitProject is not there any more, so that Git gets no credentials`,
        }
  }
  if (git) return { status: 'False', reason: 'Cloning', message: `GitProject ${name} is cloned when the pod starts` }
  if (known) {
    const message = `the url of GitProject ${name} is none that a workspace can clone from. Correct it to https:// or ssh://.`
    return { status: 'False', reason: 'UrlNotSupported', message }
  }
  const message = `spec.project.gitProject: there is no GitProject ${name} in this namespace. Create it, or make the workspace again with another.`
  return { status: 'False', reason: 'GitProjectNotFound', message }
}

const TOLD: readonly string[] = ['Ready', ...REMARKS]
/** Stations of an ordinary life; every other reason not to be ready is a trouble. */
const ORDINARY = [
  'Starting',
  'Running',
  'Stopping',
  'Stopped',
  'Terminating',
  'Terminated',
  'ClaimPending',
  'Connecting',
  'Cloning',
]

/** An Event for each new reason: who looks at the Events reads the life of the workspace in order. */
export function tellChanges({ events }: ControllerContext, workspace: Workspace, next: Next): Next {
  const news = (next.status?.conditions ?? []).filter(
    ({ type, reason }) => TOLD.includes(type) && conditionOf(workspace.status?.conditions, type)?.reason !== reason,
  )
  for (const statement of news) {
    const { reason, message } = statement
    events.record(workspace, { type: eventTypeOf(statement), reason, message })
  }
  return next
}

export const eventTypeOf = ({ status, reason }: Pick<Statement, 'status' | 'reason'>): 'Normal' | 'Warning' =>
  status === 'True' || ORDINARY.includes(reason) ? 'Normal' : 'Warning'
