import type { Cache } from '../../../adapters/kube/index.ts'
import {
  annotations,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  isPrivate,
  isPrivateBy,
  ownedBy,
  privateToOf,
  requesterOf,
  typeMetaOf,
  type Workspace,
  type WorkspaceClassSpec,
  workspacesOwning,
} from '../../../api/index.ts'
import { ownLabels } from '../desired/envelope.ts'
import { objectNameOf } from '../desired/names.ts'
import { type Obstacle, targetObstacle } from './obstacle.ts'

/** The field manager of claims and Workspaces; also the name of the controller. */
export const CONTROLLER = 'workspace'

/** The claim that somebody shares, or the one that is made for the workspace where none of a warm pool is its own. */
export const claimNameOf = (workspace: Workspace): string => workspace.spec.target?.claimName ?? objectNameOf(workspace)

export const isOwnClaim = (workspace: Workspace, claim: DeploymentTargetClaim): boolean =>
  workspacesOwning(claim).includes(workspace.metadata.uid ?? '')

/** The claim to make for the workspace; nothing when there is one, or when it uses somebody else's. */
export function claimToMake(
  workspace: Workspace,
  { name, settings }: { name: string; settings: WorkspaceClassSpec },
  claim: DeploymentTargetClaim | undefined,
  targetClasses: Cache<DeploymentTargetClass>,
): DeploymentTargetClaim | Obstacle | undefined {
  if (workspace.spec.target) return undefined
  const claimName = claimNameOf(workspace)
  if (claim) return isOwnClaim(workspace, claim) ? undefined : taken(claimName)
  const className = settings.deploymentTargetClassName
  if (!className) return noTargetClass(name)
  return {
    ...typeMetaOf(DeploymentTargetClaims),
    metadata: {
      name: claimName,
      namespace: workspace.metadata.namespace ?? '',
      labels: ownLabels(workspace),
      annotations: {
        [annotations.requester]: requesterOf(workspace, workspace.spec.owner),
        ...(makesPrivate(targetClasses.get({ name: className })) && { [annotations.privateTo]: workspace.spec.owner ?? '' }),
      },
      ownerReferences: [ownedBy(workspace)],
    },
    spec: { deploymentTargetClassName: className },
  }
}

/** Claims of such a class are private to the workspaces that they are made for. */
export const makesPrivate = (targetClass: DeploymentTargetClass | undefined): boolean =>
  targetClass !== undefined && isPrivateBy(targetClass, true)

/** A private claim names the owner of the workspace that takes it. */
export const privacyFor = ({ spec }: Workspace, claim: DeploymentTargetClaim): Record<string, string> =>
  isPrivate(claim) ? { [annotations.privateTo]: spec.owner ?? '' } : {}

/** True where the workspace's own claim lets another owner in, or none. */
export const namesOtherOwner = (workspace: Workspace, claim: DeploymentTargetClaim | undefined): claim is DeploymentTargetClaim =>
  claim !== undefined && isOwnClaim(workspace, claim) && isPrivate(claim) && privateToOf(claim) !== (workspace.spec.owner ?? '')

const taken = (claimName: string): Obstacle =>
  targetObstacle('ClaimTaken', {
    message: `DeploymentTargetClaim ${claimName} is there, but it is not this workspace's`,
    remedy: 'Delete that claim, name the workspace otherwise, or share the claim by spec.target.claimName.',
    waitingFor: `DeploymentTargetClaim ${claimName}`,
  })

const noTargetClass = (name: string): Obstacle =>
  targetObstacle('NoTargetClass', {
    message: `WorkspaceClass ${name} names no deploymentTargetClassName, and the workspace shares no claim`,
    remedy: 'Make the workspace again with spec.target.claimName, or after the class was given a deploymentTargetClassName.',
  })
