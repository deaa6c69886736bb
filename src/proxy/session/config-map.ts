import type { Kube } from '../../adapters/kube/index.ts'
import { ConfigMaps, type Ref } from '../../api/index.ts'
import { isFailure } from '../../std/index.ts'

/** Writes keys of a ConfigMap that all proxies share, and makes it where it is not there; `null` takes a key out. */
export async function writeInto(kube: Kube, { name, namespace = '' }: Ref, data: Record<string, string | null>): Promise<void> {
  try {
    await kube.patch(ConfigMaps, { name, namespace }, { data })
  } catch (thrown) {
    if (!isFailure(thrown, 'not-found')) throw thrown
    const first = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } }
    // Another proxy may be as fast.
    await kube.create(ConfigMaps, first).catch((again: unknown) => {
      if (!isFailure(again, 'already-exists')) throw again
    })
    await kube.patch(ConfigMaps, { name, namespace }, { data })
  }
}
