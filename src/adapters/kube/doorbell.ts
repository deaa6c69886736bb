import dotI from '@dot-i/k8s-operator'
import type { Kind, KubeObject } from '../../api/index.ts'
import type { Cache } from './store.ts'

/** One watched kind: each change of the cache rings, with the object after and before. */
export interface Bell<T extends KubeObject = KubeObject> {
  kind: Kind<T>
  cache: Cache<T>
  ring(now: T | undefined, before: T | undefined): void
}

export interface Doorbell {
  start(): Promise<void>
  stop(): void
}

/**
 * The operator library's shell: `init` registers the watched kinds. Its own watch ends the process on the first HTTP
 * error, misses deletions and serialises everything, and its `stop` exits; both are replaced by our caches
 * (docs/decisions/0003-operator-library.md).
 */
class Shell extends dotI.default {
  readonly #bells: Bell[]
  readonly #ends: (() => void)[] = []

  constructor(bells: Bell[]) {
    super()
    this.#bells = bells
  }

  protected override async init(): Promise<void> {
    const kinds = new Map(this.#bells.map(({ kind }) => [`${kind.group}/${kind.plural}`, kind]))
    for (const { group, version, plural } of kinds.values()) await this.watchResource(group, version, plural)
  }

  protected override async watchResource(group: string, _version: string, plural: string): Promise<void> {
    const waiting = this.#bells.filter(({ kind }) => kind.group === group && kind.plural === plural)
    for (const { cache, ring } of waiting) this.#ends.push(cache.onChange(ring))
  }

  override stop(): void {
    for (const end of this.#ends.splice(0)) end()
  }
}

export function createDoorbell(bells: Bell[]): Doorbell {
  return new Shell(bells)
}
