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
 * (docs/decisions/0002-requests-lists-and-watches-are-our-own.md). Its constructor is not run: whatever --kubeconfig says, it reads the file that KUBECONFIG
 * or the home folder names, and fails where that cannot be read.
 */
class Shell extends dotI.default {
  declare readonly bells: Bell[]
  declare readonly ends: (() => void)[]

  protected override async init(): Promise<void> {
    const kinds = new Map(this.bells.map(({ kind }) => [`${kind.group}/${kind.plural}`, kind]))
    for (const { group, version, plural } of kinds.values()) await this.watchResource(group, version, plural)
  }

  protected override async watchResource(group: string, _version: string, plural: string): Promise<void> {
    const waiting = this.bells.filter(({ kind }) => kind.group === group && kind.plural === plural)
    for (const { cache, ring } of waiting) this.ends.push(cache.onChange(ring))
  }

  override stop(): void {
    for (const end of this.ends.splice(0)) end()
  }
}

export function createDoorbell(bells: Bell[]): Doorbell {
  const shell: Shell = Object.create(Shell.prototype)
  return Object.assign(shell, { bells, ends: [] })
}
