import type { Kube } from '../../../adapters/kube/index.ts'
import { labels, type Workspace } from '../../../api/index.ts'
import { type OwnedObjects, ownedObjects } from '../../../engines/apply/index.ts'

export const MANAGER = 'berth-workspace'

const OWN = {
  whose: "this workspace's",
  remedy: 'Delete it in the target, or name the workspace otherwise.',
}

/** The objects that Berth makes for a workspace in its target. */
export const objectsOf = ({ metadata: { uid } }: Workspace, kube: Kube): OwnedObjects =>
  ownedObjects(kube, { ...OWN, label: labels.workspaceUid, value: uid }, MANAGER)

/** The objects that its devfile brings along. */
export const manifestsOf = ({ metadata: { uid } }: Workspace, kube: Kube): OwnedObjects =>
  ownedObjects(kube, { ...OWN, label: labels.workspaceManifest, value: uid }, MANAGER)
