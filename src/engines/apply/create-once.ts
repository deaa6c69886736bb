import type { Kube } from '../../adapters/kube/index.ts'
import { type Kind, type KubeObject, refOf } from '../../api/index.ts'
import { isFailure } from '../../std/index.ts'

/**
 * Makes an object, or gives the one that is there under its name: an own one that no cache shows yet, or another's. Neither where that one
 * was gone again.
 */
export async function createOnce<T extends KubeObject>(
  kube: Kube,
  kind: Kind<T>,
  object: T,
  manager: string,
): Promise<{ made?: T; there?: T | undefined }> {
  try {
    return { made: await kube.create(kind, object, { manager }) }
  } catch (failure) {
    if (!isFailure(failure, 'already-exists')) throw failure
    return { there: await kube.get(kind, refOf(object)) }
  }
}
