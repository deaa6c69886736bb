import type { Cache } from '../../adapters/kube/index.ts'
import { keyOf, refOf, type Workspace, type WorkspaceClass, type WorkspaceClassSpec } from '../../api/index.ts'
import type { Obstacle } from './obstacle.ts'

export const DEFAULT_CLASS = 'default'

/** The settings of a workspace: those of its class when it was created. */
export interface ChosenClass {
  name: string
  generation: number
  settings: WorkspaceClassSpec
}

export const classNameOf = ({ spec }: Workspace): string => spec.workspaceClassName ?? DEFAULT_CLASS

/** The frozen settings, else those of the class as it is now, if it takes another workspace. */
export function chooseClass(
  workspace: Workspace,
  classes: Cache<WorkspaceClass>,
  all: Iterable<Workspace>,
): ChosenClass | Obstacle {
  const name = classNameOf(workspace)
  const frozen = workspace.status?.class
  if (frozen?.settings && frozen.name === name) return { name, generation: frozen.generation ?? 0, settings: frozen.settings }
  const found = classes.get({ name })
  if (!found) {
    return obstacle(
      'ClassNotFound',
      `there is no WorkspaceClass ${name}`,
      'Create it, or name another in workspaceClassName.',
      name,
    )
  }
  if (found.spec.enabled === false) {
    return obstacle(
      'ClassDisabled',
      `WorkspaceClass ${name} takes no new workspaces`,
      'Use another class, or set its spec.enabled to true.',
      name,
    )
  }
  return overQuota(workspace, found, all) ?? { name, generation: found.metadata.generation ?? 0, settings: found.spec }
}

/** Older workspaces come first, so that two made at once never both take the last place. */
function overQuota(workspace: Workspace, { metadata, spec }: WorkspaceClass, all: Iterable<Workspace>): Obstacle | undefined {
  const rivals = [...all].filter((other) => classNameOf(other) === metadata.name && counts(other) && isBefore(other, workspace))
  const mine = rivals.filter((other) => other.spec.owner === workspace.spec.owner)
  const rules = [
    { field: 'workspacesQuota', quota: spec.workspacesQuota ?? -1, taken: rivals.length },
    { field: 'workspacesPerUserQuota', quota: spec.workspacesPerUserQuota ?? -1, taken: mine.length },
  ]
  const broken = rules.find(({ quota, taken }) => quota >= 0 && taken >= quota)
  if (!broken) return undefined
  const message = `WorkspaceClass ${metadata.name} allows ${broken.quota} workspaces by its ${broken.field}, and they are there`
  return obstacle('WorkspaceQuotaExceeded', message, 'Terminate another workspace, or have the quota raised.', metadata.name)
}

/** Whether it takes a place in the quotas of its class. */
export const counts = ({ spec, metadata }: Workspace): boolean =>
  spec.desiredState !== 'Terminated' && metadata.deletionTimestamp === undefined

function isBefore(other: Workspace, workspace: Workspace): boolean {
  if (other.metadata.uid === workspace.metadata.uid) return false
  if (other.status?.class?.settings) return true
  const rank = (each: Workspace) => `${each.metadata.creationTimestamp ?? ''} ${keyOf(refOf(each))}`
  return rank(other) < rank(workspace)
}

const obstacle = (reason: string, message: string, remedy: string, name: string): Obstacle => ({
  step: 'ClassResolved',
  reason,
  message,
  remedy,
  waitingFor: `WorkspaceClass ${name}`,
})
