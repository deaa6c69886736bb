import type { Kube } from '../../adapters/kube/index.ts'
import { type Kind, type KubeObject, labels, refOf, type Workspace } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'

export const OBJECT_TAKEN = 'ObjectTaken'

/** The object as it is; a failure when it is there and somebody else's. */
export async function own<T extends KubeObject>(
  kube: Kube,
  { metadata }: Workspace,
  kind: Kind<T>,
  object: KubeObject,
): Promise<T | undefined> {
  const live = await kube.get(kind, refOf(object))
  if (!live || live.metadata.labels?.[labels.workspaceUid] === metadata.uid) return live
  throw taken(kind, object)
}

export const taken = (kind: Kind, object: KubeObject): Failure =>
  new Failure(
    'invalid',
    `${kind.kind} ${object.metadata.name} in namespace ${object.metadata.namespace} is there, but not this workspace's`,
    {
      reason: OBJECT_TAKEN,
      remedy: 'Delete it in the target, or name the workspace otherwise.',
    },
  )
