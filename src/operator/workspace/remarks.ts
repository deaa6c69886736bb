import type { Statement, Workspace, WorkspaceClassSpec, WorkspaceStatus } from '../../api/index.ts'
import type { ChosenClass } from './class.ts'

/** Conditions that say what of the wishes is not fulfilled, though the workspace runs. */
export const REMARKS = ['ProjectCloned', 'SettingsInEffect', 'VariablesInherited'] as const

/** The project that a workspace names, and whether it is there. */
export interface Project {
  name: string
  isThere: boolean
}

/** Said as long as it is not done: an empty folder, or a limit that does not hold, without a word would look like a fault. */
export const remarksOn = (
  { metadata }: Workspace,
  chosen: ChosenClass | undefined,
  project: Project | undefined,
  variables?: WorkspaceStatus['variables'],
): Statement[] =>
  [...(project ? [onProject(project)] : []), ...(chosen ? onSettings(chosen) : []), ...onVariables(variables)].map(
    (statement) => ({ ...statement, observedGeneration: metadata.generation ?? 0 }),
  )

function onVariables({ leftOut = [] }: NonNullable<WorkspaceStatus['variables']> = {}): Statement[] {
  if (leftOut.length === 0) return []
  const message = `left out: ${leftOut.join('; ')}. Correct the Secrets, then have the variables frozen again with \`berth variables refresh\`.`
  return [{ type: 'VariablesInherited', status: 'False', reason: 'VariablesLeftOut', message }]
}

const onProject = ({ name, isThere }: Project): Statement => ({
  type: 'ProjectCloned',
  status: 'False',
  ...(isThere
    ? {
        reason: 'NotSupported',
        message: `GitProject ${name} is not cloned into the workspace yet. Clone it by hand in the workspace.`,
      }
    : {
        reason: 'GitProjectNotFound',
        message: `spec.project.gitProject: there is no GitProject ${name} in this namespace. Create it, or make the workspace again with another.`,
      }),
})

/** The default of the CRD; whoever leaves it has not asked for anything. */
const CLONER = 'alpine/git:2.45.2'

const IDLE_FIELDS: Record<string, (settings: WorkspaceClassSpec) => boolean> = {
  maxResourcesPerWorkspace: ({ maxResourcesPerWorkspace: most }) =>
    Object.keys({ ...most?.limits, ...most?.requests }).length > 0,
  imagePullSecrets: ({ imagePullSecrets }) => (imagePullSecrets ?? []).length > 0,
  'idle.stopAfterMinutes': ({ idle }) => (idle?.stopAfterMinutes ?? 0) > 0,
  'projectCloner.image': ({ projectCloner }) => (projectCloner?.image ?? CLONER) !== CLONER,
  'editor.image': ({ editor }) => (editor?.image ?? '') !== '',
}

/** What the class asks for and nobody does yet. Nothing is said of a class that asks for none of it. */
function onSettings({ name, settings }: ChosenClass): Statement[] {
  const fields = Object.keys(IDLE_FIELDS).filter((field) => IDLE_FIELDS[field]?.(settings))
  if (fields.length === 0) return []
  const message = `not in effect yet of WorkspaceClass ${name}: ${fields.join(', ')}. Do not rely on them; leave them out of the class, so that nobody does.`
  return [{ type: 'SettingsInEffect', status: 'False', reason: 'NotSupported', message }]
}
