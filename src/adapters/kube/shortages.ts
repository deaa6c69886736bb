import { type KubeObject, keyOf, refOf } from '../../api/index.ts'
import { createTally, type Failure, type Log } from '../../std/index.ts'
import type { LeftOutBell } from './left-out.ts'
import { type Memory, namespaceTooLarge } from './memory.ts'

type Listener = (object: KubeObject, why: Failure) => void

/** The namespaces of which some store of a program does not keep everything. */
export interface Shortages {
  /** For each of the stores. */
  bell: LeftOutBell
  of(namespace: string): Failure | undefined
  onShortage(listener: Listener): void
}

interface Wiring {
  memory: Memory
  log: Log
  /** No store leaves anything of the namespace out any more. */
  whole(namespace: string): void
}

export function createShortages({ memory, log, whole }: Wiring): Shortages {
  const stores = createTally()
  const listeners = new Set<Listener>()
  return {
    bell: {
      leftOut(object) {
        const { namespace = '' } = object.metadata
        const failure = namespaceTooLarge(namespace, memory)
        log.warn('not all of a namespace is kept', { kind: object.kind, object: keyOf(refOf(object)), failure })
        if (stores.add(namespace, 1) === 1) for (const listener of listeners) listener(object, failure)
      },
      whole(namespace) {
        if (stores.add(namespace, -1) === 0) whole(namespace)
      },
    },
    of: (namespace) => (stores.of(namespace) === 0 ? undefined : namespaceTooLarge(namespace, memory)),
    onShortage: (listener) => void listeners.add(listener),
  }
}
