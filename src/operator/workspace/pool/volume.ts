import type { Kube } from '../../../adapters/kube/index.ts'
import {
  type DeploymentTargetClaim,
  labels,
  MANAGED_BY_BERTH,
  PersistentVolumeClaims,
  typeMetaOf,
  type Workspace,
  type WorkspaceClassSpec,
} from '../../../api/index.ts'
import type { WarmVolume } from '../desired/index.ts'
import { volumeSpecOf } from '../desired/volumes.ts'
import { volumeNameOf } from './spare.ts'

/** Makes the volume of a spare in its target, or leaves it as it is. */
export async function makeVolume(kube: Kube, spare: DeploymentTargetClaim, namespace: string, settings: WorkspaceClassSpec) {
  const name = volumeNameOf(spare)
  if (await kube.get(PersistentVolumeClaims, { name, namespace })) return
  const own = { [labels.managedBy]: MANAGED_BY_BERTH, [labels.warmClaim]: spare.metadata.uid ?? '' }
  await kube.create(PersistentVolumeClaims, {
    ...typeMetaOf(PersistentVolumeClaims),
    metadata: { name, namespace, labels: { ...settings.labels, ...own }, annotations: { ...settings.annotations } },
    spec: volumeSpecOf(settings),
  })
}

/** Removes it; false while it is still there. What has become a workspace's is not touched. */
export async function removeVolume(kube: Kube, spare: DeploymentTargetClaim, namespace: string): Promise<boolean> {
  const ref = { name: volumeNameOf(spare), namespace }
  const live = await kube.get(PersistentVolumeClaims, ref)
  if (!live || !isOf(spare.metadata.uid, live.metadata.labels)) return true
  return (await kube.delete(PersistentVolumeClaims, ref, { uid: live.metadata.uid })) !== 'terminating'
}

const isOf = (claimUid: string | undefined, marks: Record<string, string> = {}): boolean =>
  marks[labels.warmClaim] === claimUid && marks[labels.workspaceUid] === undefined

/** Gives a workspace the volume that was made with its claim, so that it is found, and removed, as its own. */
export async function takeVolume(
  kube: Kube,
  { metadata }: Workspace,
  { name, claimUid }: WarmVolume,
  namespace: string,
): Promise<void> {
  const ref = { name, namespace }
  const live = await kube.get(PersistentVolumeClaims, ref)
  if (!live || !isOf(claimUid, live.metadata.labels)) return
  const marks = { [labels.workspace]: metadata.name, [labels.workspaceUid]: metadata.uid ?? '' }
  const { resourceVersion } = live.metadata
  await kube.patch(PersistentVolumeClaims, ref, { metadata: { resourceVersion, labels: marks } })
}
