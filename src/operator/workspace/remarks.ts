import {
  conditionOf,
  isTrue,
  type Statement,
  type Workspace,
  type WorkspaceClass,
  type WorkspaceStatus,
} from '../../api/index.ts'
import type { Assessment } from './actual-state/index.ts'
import { type Backup, onBackups } from './care/backup/backup.ts'
import { onSizes, type Sizes } from './care/sizes.ts'
import { type ChosenClass, onClass } from './class.ts'
import type { GitFindings } from './git/index.ts'
import type { Obstacle } from './obstacle.ts'
import { scheduleFrom } from './schedule.ts'

/** Conditions that say what of the wishes is not fulfilled, though the workspace runs. */
export const REMARKS = [
  'ProjectCloned',
  'GitCredentials',
  'VariablesInherited',
  'ScheduleValid',
  'ResourcesCurrent',
  'BackedUp',
  'ObjectsCurrent',
] as const

/** What there may be a word to say of. */
interface Noticed {
  chosen?: ChosenClass | undefined
  found?: WorkspaceClass | undefined
  project?: Project | undefined
  variables?: WorkspaceStatus['variables']
  sizes?: Sizes | undefined
  backups?: Backup[] | undefined
  /** What its objects are not made for, and what there is of them all the same. */
  obstacle?: Obstacle | undefined
  assessment?: Assessment | undefined
}

/** The project that a workspace names, and whether its pod has cloned it. */
export interface Project extends GitFindings {
  isPrepared: boolean
}

/** Said as long as it is not done: an empty folder, or a limit that does not hold, without a word would look like a fault. */
export function remarksOn(workspace: Workspace, noticed: Noticed): Statement[] {
  const { chosen, found, project, variables, sizes, backups, obstacle } = noticed
  const remarks = [
    ...onObjects(workspace, noticed),
    ...(project ? onProject(project, isTrue(workspace.status?.conditions, 'ProjectCloned')) : []),
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

/** What runs goes on when a change of it cannot be made: then it is not what the Workspace says. */
export function onObjects(workspace: Workspace, { obstacle, assessment }: Noticed): Statement[] {
  if (!obstacle || obstacle.isUnderWay) return []
  const { state } = assessment ?? {}
  const isUp = state === 'Running' || state === 'Starting'
  if (!isUp && !isFalse(workspace, 'ObjectsCurrent')) return []
  const { step, reason, message, remedy } = obstacle
  const text = `${isUp ? 'what runs was made before, and changes have no effect now' : 'it cannot be made anew'}: ${step}: ${message}. ${remedy}`
  return [{ type: 'ObjectsCurrent', status: 'False', reason, message: text }]
}

/** A schedule that cannot be read does nothing, and keeps the workspace from nothing. */
function onSchedule({ spec }: Workspace, { name, settings }: ChosenClass): Statement[] {
  const written = spec.schedule ?? settings.schedule
  const read = written && scheduleFrom(written)
  if (!read || !('wrong' in read)) return []
  const field = spec.schedule ? 'spec.schedule' : `spec.schedule of WorkspaceClass ${name}`
  const message = `${field}.${read.wrong}. Write five cron fields, such as 0 19 * * mon-fri, and a time zone such as Europe/Berlin.`
  return [{ type: 'ScheduleValid', status: 'False', reason: 'ScheduleInvalid', message }]
}

function onVariables({ leftOut = [] }: NonNullable<WorkspaceStatus['variables']> = {}): Statement[] {
  if (leftOut.length === 0) return []
  const message = `left out: ${leftOut.join('; ')}. Correct the Secrets, then have the variables frozen again with \`berth variables refresh\`.`
  return [{ type: 'VariablesInherited', status: 'False', reason: 'VariablesLeftOut', message }]
}

function onProject({ name, isThere, known, git, isPrepared, trouble }: Project, wasCloned: boolean): Statement[] {
  const credentials: Statement[] = trouble
    ? [
        {
          type: 'GitCredentials',
          status: 'False',
          reason: 'SecretNotAccessible',
          message: `${trouble}. Create it, or correct it.`,
        },
      ]
    : []
  const cloned = (status: 'True' | 'False', reason: string, text: string): Statement => ({
    type: 'ProjectCloned',
    status,
    reason,
    message: text,
  })
  if (isPrepared || wasCloned) {
    const rest = isThere ? '' : '. The GitProject is not there any more, so that Git gets no credentials'
    return [
      cloned('True', 'Cloned', `GitProject ${name} is in folder ${git?.folder ?? name} of the projects${rest}`),
      ...credentials,
    ]
  }
  if (git) return [cloned('False', 'Cloning', `GitProject ${name} is cloned when the pod starts`), ...credentials]
  if (known) {
    const message = `the url of GitProject ${name} is none that a workspace can clone from. Correct it to https:// or ssh://.`
    return [cloned('False', 'UrlNotSupported', message), ...credentials]
  }
  const message = `spec.project.gitProject: there is no GitProject ${name} in this namespace. Create it, or make the workspace again with another.`
  return [cloned('False', 'GitProjectNotFound', message), ...credentials]
}
