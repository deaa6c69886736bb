import {
  conditionOf,
  isTrue,
  type Statement,
  type Workspace,
  type WorkspaceClass,
  type WorkspaceStatus,
} from '../../api/index.ts'
import { type ChosenClass, onClass } from './class.ts'
import type { GitFindings } from './git/index.ts'
import { scheduleFrom } from './schedule.ts'

/** Conditions that say what of the wishes is not fulfilled, though the workspace runs. */
export const REMARKS = ['ProjectCloned', 'GitCredentials', 'VariablesInherited', 'ScheduleValid'] as const

/** What there may be a word to say of. */
interface Noticed {
  chosen?: ChosenClass | undefined
  found?: WorkspaceClass | undefined
  project?: Project | undefined
  variables?: WorkspaceStatus['variables']
}

/** The project that a workspace names, and whether its pod has cloned it. */
export interface Project extends GitFindings {
  isPrepared: boolean
}

/** Said as long as it is not done: an empty folder, or a limit that does not hold, without a word would look like a fault. */
export function remarksOn(workspace: Workspace, { chosen, found, project, variables }: Noticed): Statement[] {
  const remarks = [
    ...(project ? onProject(project, isTrue(workspace.status?.conditions, 'ProjectCloned')) : []),
    ...onVariables(variables),
    ...(chosen ? [...onSchedule(workspace, chosen), ...onClass(workspace, chosen, found)] : []),
  ]
  // A condition stays until it is said otherwise.
  const over = PASSING.filter(
    (type) => chosen && isFalse(workspace, type) && !remarks.some((remark) => remark.type === type),
  ).map((type): Statement => ({ type, status: 'True', reason: 'Mended', message: 'nothing is amiss any more' }))
  return [...remarks, ...over].map((statement) => ({ ...statement, observedGeneration: workspace.metadata.generation ?? 0 }))
}

const PASSING = ['VariablesInherited', 'ScheduleValid', 'ClassCurrent']

const isFalse = ({ status }: Workspace, type: string): boolean => conditionOf(status?.conditions, type)?.status === 'False'

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
