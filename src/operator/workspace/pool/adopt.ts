import { type Cache, mayUse } from '../../../adapters/kube/index.ts'
import {
  annotations,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  labels,
  ownedBy,
  refOf,
  requesterOf,
  SPACE_PROVISIONERS,
  SpaceTiers,
  tierNameOf,
  type Workspace,
  type WorkspaceClass,
} from '../../../api/index.ts'
import type { Devfile } from '../../../devfile/index.ts'
import type { ControllerContext } from '../../../engines/controller/index.ts'
import { quantity, unlessFailed } from '../../../std/index.ts'
import { volumeSizeOf } from '../desired/volumes.ts'
import { CONTROLLER, claimToMake, namesOtherOwner, privacyFor } from '../place/claim.ts'
import type { ChosenClass } from '../place/class.ts'
import { isObstacle, type Obstacle } from '../place/obstacle.ts'
import { byPool, fits, isReady } from './spare.ts'

export interface ClaimSupply extends Pick<ControllerContext, 'kube'> {
  claims: Cache<DeploymentTargetClaim>
  classes: Cache<WorkspaceClass>
  targetClasses: Cache<DeploymentTargetClass>
}

interface Claimant {
  devfile: Devfile
  chosen: ChosenClass
  /** The claim that it has already. */
  mine: DeploymentTargetClaim | undefined
}

/** Gives the workspace the claim that it is to have for itself, from the warm pool or new, or says why it gets none. */
export async function ensureClaim(
  workspace: Workspace,
  { devfile, chosen, mine }: Claimant,
  supply: ClaimSupply,
): Promise<Obstacle | undefined> {
  if (namesOtherOwner(workspace, mine)) {
    const metadata = { annotations: privacyFor(workspace, mine) }
    await supply.kube.patch(DeploymentTargetClaims, refOf(mine), { metadata }, { manager: CONTROLLER })
  }
  const wanted = claimToMake(workspace, chosen, mine, supply.targetClasses)
  if (!wanted || isObstacle(wanted)) return wanted
  if (await adopt(workspace, devfile, chosen, supply)) return undefined
  await supply.kube.create(DeploymentTargetClaims, wanted, { manager: CONTROLLER })
  return undefined
}

/**
 * Gives a new workspace a claim of the warm pool of its class, if there is one that fits. The claim's version is the lock: of two
 * that want the same one, the second meets a conflict and takes the next. One write, so that nothing is ever half adopted.
 */
async function adopt(workspace: Workspace, devfile: Devfile, chosen: ChosenClass, supply: ClaimSupply): Promise<boolean> {
  const { settings, name } = chosen
  const found = supply.classes.get({ name })
  const { namespace = '' } = workspace.metadata
  // One that brings its files along gets a volume that is made for them.
  if (!found || workspace.spec.restoreFrom || needsMore(devfile, settings)) return false
  const targetClass = supply.targetClasses.get({ name: settings.deploymentTargetClassName ?? '' })
  const spares = supply.claims
    .by(byPool, found.metadata.uid ?? '')
    .filter((spare) => spare.metadata.namespace === namespace && isReady(spare) && fits(spare, settings, targetClass))
  if (spares.length === 0 || !(await mayHave(workspace, targetClass, supply))) return false
  for (const spare of spares.sort(byAge)) if (await take(spare, workspace, supply)) return true
  return false
}

/** Berth asked for the spare; who takes it may use the tier that it leads to, as if it were made for him (decision 270). */
async function mayHave(workspace: Workspace, from: DeploymentTargetClass | undefined, { kube }: ClaimSupply): Promise<boolean> {
  const tier = from && SPACE_PROVISIONERS.includes(from.spec.provisioner) ? tierNameOf(from) : undefined
  if (typeof tier !== 'string') return true
  const { namespace = '' } = workspace.metadata
  return mayUse(kube, requesterOf(workspace, workspace.spec.owner), { kind: SpaceTiers, name: tier, namespace })
}

const needsMore = (devfile: Devfile, settings: ChosenClass['settings']): boolean =>
  quantity(volumeSizeOf(settings, devfile)) > quantity(volumeSizeOf(settings))

const byAge = (one: DeploymentTargetClaim, other: DeploymentTargetClaim): number =>
  (one.metadata.creationTimestamp ?? '').localeCompare(other.metadata.creationTimestamp ?? '')

/** Annotations that claims of the pool have, and those of workspaces do not. */
const WARM = [annotations.warmClass, annotations.warmRecipe, annotations.warmState, annotations.warmNamespace]

function take(spare: DeploymentTargetClaim, workspace: Workspace, { kube }: ClaimSupply): Promise<boolean> {
  const { name, uid = '' } = workspace.metadata
  const mine = {
    resourceVersion: spare.metadata.resourceVersion,
    labels: { [labels.warmPool]: null, [labels.workspace]: name, [labels.workspaceUid]: uid },
    annotations: { ...Object.fromEntries(WARM.map((key) => [key, null])), ...privacyFor(workspace, spare) },
    ownerReferences: [ownedBy(workspace)],
  }
  const patched = kube.patch(DeploymentTargetClaims, refOf(spare), { metadata: mine }, { manager: CONTROLLER })
  return unlessFailed(patched, 'conflict', 'not-found')
}
