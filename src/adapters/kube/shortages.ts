import { type KubeObject, keyOf, refOf } from '../../api/index.ts'
import { createTally, type Failure, type Log } from '../../std/index.ts'
import { type Memory, namespaceTooLarge } from './memory.ts'

type ShortageListener = (object: KubeObject, why: Failure) => void

interface ShortageOptions {
  memory: Memory
  log: Log
  /** No store leaves anything of the namespace out any more. */
  whole(namespace: string): void
}

/** The namespaces of which some store of a program does not keep everything. */
export function createShortages({ memory, log, whole }: ShortageOptions) {
  const stores = createTally()
  const listeners = new Set<ShortageListener>()
  return {
    /** For each of the stores. */
    bell: {
      leftOut(object: KubeObject) {
        const { namespace = '' } = object.metadata
        const failure = namespaceTooLarge(namespace, memory)
        log.warn('not all of a namespace is kept', { kind: object.kind, object: keyOf(refOf(object)), failure })
        if (stores.add(namespace, 1) === 1) for (const listener of listeners) listener(object, failure)
      },
      whole(namespace: string) {
        if (stores.add(namespace, -1) === 0) whole(namespace)
      },
    },
    of: (namespace: string): Failure | undefined =>
      stores.of(namespace) === 0 ? undefined : namespaceTooLarge(namespace, memory),
    onShortage: (listener: ShortageListener) => void listeners.add(listener),
  }
}
