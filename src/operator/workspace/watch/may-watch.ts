import type { Kube } from '../../../adapters/kube/index.ts'
import { type Kind, labels } from '../../../api/index.ts'
import { type Clock, isFailure, pause, seconds, waitOf } from '../../../std/index.ts'

const PATIENT = { base: seconds(0.5), max: seconds(30), factor: 2, jitter: 0.5 }
export const isPassing = (thrown: unknown) => isFailure(thrown, 'unavailable', 'timeout', 'expired')

interface Asking {
  clock: Clock
  kinds: readonly Kind[]
  /** The whole cluster without one. */
  namespace?: string
  signal: AbortSignal
  /** True where it is asked again after this; a server that is only away has not said no. */
  isOpen: (thrown: unknown) => boolean
}

/** One object of each kind at most, and of it the metadata: only whether it is allowed counts. */
export async function mayWatch(kube: Kube, { clock, kinds, namespace, signal, isOpen }: Asking): Promise<boolean> {
  const place = namespace === undefined ? '' : `/namespaces/${namespace}`
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      for (const { group, version, plural } of kinds) {
        const path = `${group ? `/apis/${group}` : '/api'}/${version}${place}/${plural}`
        await kube.read(`${path}?limit=1&labelSelector=${encodeURIComponent(labels.workspaceUid)}`)
      }
      return true
    } catch (thrown) {
      if (!isOpen(thrown)) return false
      await pause(clock, waitOf(PATIENT, attempt), signal)
    }
  }
  return false
}
