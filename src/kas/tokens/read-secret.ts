import type { Kube } from '../../adapters/kube/index.ts'
import { type CoreSecret, notOnboarded, type Ref, Secrets } from '../../api/index.ts'
import { isFailure } from '../../std/index.ts'

/** `undefined` when there is none. Throws `invalid` where the namespace does not let kas read its Secrets, there or not. */
export async function readSecret(kube: Pick<Kube, 'get'>, ref: Ref): Promise<CoreSecret | undefined> {
  try {
    return await kube.get(Secrets, ref)
  } catch (thrown) {
    throw isFailure(thrown, 'forbidden') ? notOnboarded(ref.namespace ?? '') : thrown
  }
}
