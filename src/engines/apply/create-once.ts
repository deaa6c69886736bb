import type { Kube } from '../../adapters/kube/index.ts'
import { type Kind, type KubeObject, refOf } from '../../api/index.ts'
import { isFailure } from '../../std/index.ts'

/** Makes an object; `undefined` where one of its name is there already, an own one or another's. */
export async function createUnlessThere<T extends KubeObject>(
  kube: Kube,
  kind: Kind<T>,
  object: T,
  manager: string,
): Promise<T | undefined> {
  try {
    return await kube.create(kind, object, { manager })
  } catch (failure) {
    if (!isFailure(failure, 'already-exists')) throw failure
    return undefined
  }
}

/**
 * Makes an object, or gives the one that is there under its name: an own one that no cache shows yet, or another's. Neither where that one
 * was gone again.
 */
export async function createOnce<T extends KubeObject>(
  ...asked: Parameters<typeof createUnlessThere<T>>
): Promise<{ made?: T | undefined; there?: T | undefined }> {
  const [kube, kind, object] = asked
  const made = await createUnlessThere<T>(...asked)
  return made ? { made } : { there: await kube.get(kind, refOf(object)) }
}
