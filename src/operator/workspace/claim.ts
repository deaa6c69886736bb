import {
  annotations,
  apiVersionOf,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  labels,
  MANAGED_BY_BERTH,
  ownedBy,
  requesterOf,
  type Workspace,
  type WorkspaceClassSpec,
  Workspaces,
} from '../../api/index.ts'
import { objectNameOf } from './names.ts'
import type { Obstacle } from './obstacle.ts'

/** The claim that somebody shares, or the one that is made for the workspace where none of a warm pool is its own. */
export const claimNameOf = (workspace: Workspace): string => workspace.spec.target?.claimName ?? objectNameOf(workspace)

/** The UIDs of the workspaces that own it: one, or none. */
export const ownersOf = ({ metadata }: DeploymentTargetClaim): string[] =>
  (metadata.ownerReferences ?? []).filter(({ kind }) => kind === Workspaces.kind).map(({ uid }) => uid)

export const isOwnClaim = (workspace: Workspace, claim: DeploymentTargetClaim): boolean =>
  claim.metadata.ownerReferences?.some(({ uid }) => uid === workspace.metadata.uid) ?? false

/** The claim to make for the workspace; nothing when there is one, or when it uses somebody else's. */
export function claimToMake(
  workspace: Workspace,
  { name, settings }: { name: string; settings: WorkspaceClassSpec },
  claim: DeploymentTargetClaim | undefined,
): DeploymentTargetClaim | Obstacle | undefined {
  if (workspace.spec.target) return undefined
  const claimName = claimNameOf(workspace)
  if (claim) return isOwnClaim(workspace, claim) ? undefined : taken(claimName)
  const targetClass = settings.deploymentTargetClassName
  if (!targetClass) return noTargetClass(name)
  return {
    apiVersion: apiVersionOf(DeploymentTargetClaims),
    kind: DeploymentTargetClaims.kind,
    metadata: {
      name: claimName,
      namespace: workspace.metadata.namespace ?? '',
      labels: {
        [labels.managedBy]: MANAGED_BY_BERTH,
        [labels.workspace]: workspace.metadata.name,
        [labels.workspaceUid]: workspace.metadata.uid ?? '',
      },
      annotations: { [annotations.requester]: requesterOf(workspace, workspace.spec.owner) },
      ownerReferences: [ownedBy(workspace)],
    },
    spec: { deploymentTargetClassName: targetClass },
  }
}

const taken = (claimName: string): Obstacle => ({
  step: 'TargetReady',
  reason: 'ClaimTaken',
  message: `DeploymentTargetClaim ${claimName} is there, but it is not this workspace's`,
  remedy: 'Delete that claim, name the workspace otherwise, or share the claim by spec.target.claimName.',
  waitingFor: `DeploymentTargetClaim ${claimName}`,
})

const noTargetClass = (name: string): Obstacle => ({
  step: 'TargetReady',
  reason: 'NoTargetClass',
  message: `WorkspaceClass ${name} names no deploymentTargetClassName, and the workspace shares no claim`,
  remedy: 'Make the workspace again with spec.target.claimName, or after the class was given a deploymentTargetClassName.',
})
