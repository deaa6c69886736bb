import {
  annotations,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  labels,
  ownedBy,
  refOf,
  type Workspace,
} from '../../../../api/index.ts'
import type { Devfile } from '../../../../devfile/index.ts'
import { isFailure, quantity } from '../../../../std/index.ts'
import { privacyFor } from '../../claim.ts'
import type { ChosenClass } from '../../class.ts'
import { volumeSizeOf } from '../../desired/volumes.ts'
import { CONTROLLER, type Room } from '../../room.ts'
import { fits, isReady } from './spare.ts'

/**
 * Gives a new workspace a claim of the warm pool of its class, if there is one that fits. The claim's version is the lock: of two
 * that want the same one, the second meets a conflict and takes the next. One write, so that nothing is ever half adopted.
 */
export async function adopt(workspace: Workspace, devfile: Devfile, chosen: ChosenClass, room: Room): Promise<boolean> {
  const { settings, name } = chosen
  const found = room.classes.get({ name })
  const { namespace = '' } = workspace.metadata
  // One that brings its files along gets a volume that is made for them.
  if (!found || workspace.spec.restoreFrom || needsMore(devfile, settings)) return false
  const targetClass = room.targetClass(settings.deploymentTargetClassName ?? '')
  const spares = room
    .spares(found.metadata.uid ?? '', namespace)
    .filter((spare) => isReady(spare) && fits(spare, settings, targetClass))
  for (const spare of spares.sort(byAge)) if (await take(spare, workspace, room)) return true
  return false
}

const needsMore = (devfile: Devfile, settings: ChosenClass['settings']): boolean =>
  quantity(volumeSizeOf(settings, devfile)) > quantity(volumeSizeOf(settings))

const byAge = (one: DeploymentTargetClaim, other: DeploymentTargetClaim): number =>
  (one.metadata.creationTimestamp ?? '').localeCompare(other.metadata.creationTimestamp ?? '')

/** What a claim of the pool says and one of a workspace does not. */
const WARM = [annotations.warmClass, annotations.warmRecipe, annotations.warmState, annotations.warmNamespace]

async function take(spare: DeploymentTargetClaim, workspace: Workspace, { workshop }: Room): Promise<boolean> {
  const { name, uid = '' } = workspace.metadata
  const mine = {
    resourceVersion: spare.metadata.resourceVersion,
    labels: { [labels.warmPool]: null, [labels.workspace]: name, [labels.workspaceUid]: uid },
    annotations: { ...Object.fromEntries(WARM.map((key) => [key, null])), ...privacyFor(workspace, spare) },
    ownerReferences: [ownedBy(workspace)],
  }
  try {
    await workshop.kube.patch(DeploymentTargetClaims, refOf(spare), { metadata: mine }, { manager: CONTROLLER })
    return true
  } catch (thrown) {
    if (isFailure(thrown, 'conflict', 'not-found')) return false
    throw thrown
  }
}
