import type { Kube } from '../../src/adapters/kube/index.ts'
import { Failure } from '../../src/std/index.ts'

export interface Life {
  /** Writes until death; Infinity for one that does not die. */
  left: number
  /** Writes so far. */
  written: number
  /** Resolves at death. */
  readonly end: Promise<void>
}

export function lifeOf(writes: number): Life & { die: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { left: writes, written: 0, end: promise, die: resolve }
}

/**
 * The API as a process sees it that is killed right after its n-th write: that write is in, its answer is lost, and
 * nothing is heard or said any more.
 */
export function mortal(kube: Kube, life: ReturnType<typeof lifeOf>): Kube {
  const dead = () => new Failure('cancelled', 'this process was killed')
  const write = async <T>(send: () => Promise<T>): Promise<T> => {
    if (life.left <= 0) throw dead()
    life.left--
    life.written++
    const isLast = life.left === 0
    const answer = send()
    if (!isLast) return answer
    await answer.catch(() => undefined)
    life.die()
    throw dead()
  }
  const read = <T>(send: () => Promise<T>): Promise<T> => (life.left <= 0 ? Promise.reject(dead()) : send())
  return {
    ...kube,
    get: (kind, ref, signal) => read(() => kube.get(kind, ref, signal)),
    list: (kind, query, signal) => read(() => kube.list(kind, query, signal)),
    read: (path, options) => read(() => kube.read(path, options)),
    create: (kind, object, how) => write(() => kube.create(kind, object, how)),
    apply: (kind, object, how) => write(() => kube.apply(kind, object, how)),
    patch: (kind, ref, patch, how) => write(() => kube.patch(kind, ref, patch, how)),
    delete: (kind, ref, how) => write(() => kube.delete(kind, ref, how)),
    post: (path, body) => write(() => kube.post(path, body)),
    as: (identity) => mortal(kube.as(identity), life),
  }
}

/** Lives through all these deaths, `atOnce` at a time, and says after which write it was that something is left wrong. */
export async function dieAtEach(
  writes: readonly number[],
  atOnce: number,
  live: (writes: number) => Promise<unknown>,
): Promise<void> {
  const deaths = [...writes]
  const next = async (): Promise<void> => {
    const death = deaths.shift()
    if (death === undefined) return
    await live(death).catch((thrown: unknown) => {
      throw new Failure('internal', `killed after write ${death}: ${thrown instanceof Error ? thrown.message : thrown}`, {
        cause: thrown,
      })
    })
    await next()
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}

/** The death after each write of a life with so many. */
export const everyWrite = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1)
