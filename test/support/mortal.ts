import type { Kube } from '../../src/adapters/kube/index.ts'
import type { Kind } from '../../src/api/index.ts'
import { Failure } from '../../src/std/index.ts'
import { type BadLine, slowLine } from './bad-line.ts'
import { type OperatorOptions, startOperator } from './operator.ts'
import { inParallel } from './parallel.ts'
import { sampleOf } from './sample.ts'

export interface Life {
  /** Writes until death; Infinity for one that does not die. */
  left: number
  /** Writes so far. */
  written: number
  /** Kinds whose writes do not count: who dies after such a one has died after the write before it. */
  readonly spared: readonly string[]
  /** Another process does its work now. */
  isReplaced: boolean
  /** Resolves at death. */
  readonly end: Promise<void>
}

export function lifeOf(writes: number, spared: readonly string[] = []): Life & { die: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { left: writes, written: 0, spared, isReplaced: false, end: promise, die: resolve }
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
  const of = ({ kind }: Kind) => (life.spared.includes(kind) ? read : write)
  return {
    ...kube,
    get: (kind, ref, signal) => read(() => kube.get(kind, ref, signal)),
    list: (kind, query, signal) => read(() => kube.list(kind, query, signal)),
    read: (path, options) => read(() => kube.read(path, options)),
    create: (kind, object, how) => of(kind)(() => kube.create(kind, object, how)),
    apply: (kind, object, how) => write(() => kube.apply(kind, object, how)),
    patch: (kind, ref, patch, how) => of(kind)(() => kube.patch(kind, ref, patch, how)),
    delete: (kind, ref, how) => write(() => kube.delete(kind, ref, how)),
    post: (path, body) => write(() => kube.post(path, body)),
    as: (identity) => mortal(kube.as(identity), life),
  }
}

/**
 * The way of such a process to another API. Its writes there count like those at home; after the last of them, wherever that
 * was, nothing comes through until it was replaced.
 */
export const mortalLine = (server: string, ca: string, life: ReturnType<typeof lifeOf>): Promise<BadLine> =>
  slowLine(server, {
    ca,
    of(method) {
      if (life.isReplaced) return {}
      if (life.left <= 0) return { isCut: true }
      if (method === 'GET') return {}
      life.left--
      life.written++
      return life.left === 0 ? { lost: life.die } : {}
    },
  })

/** Lives through all these deaths, `atOnce` at a time, and says after which write it was that something is left wrong. */
export async function dieAtEach<Death>(
  deaths: readonly Death[],
  atOnce: number,
  live: (death: Death) => Promise<unknown>,
): Promise<void> {
  await inParallel(deaths, atOnce, (death) =>
    live(death).catch((thrown: unknown) => {
      const why = thrown instanceof Error ? thrown.message : thrown
      throw new Failure('internal', `killed after write ${JSON.stringify(death)}: ${why}`, { cause: thrown })
    }),
  )
}

/** After which writes of a life with so many it is worth to die: after each, or a sample of them. */
export const deathsOf = (count: number, some?: number): number[] =>
  sampleOf(
    Array.from({ length: count }, (_, n) => n + 1),
    some,
  )

/** Controllers that die with their life, and are replaced by others then. `stop` ends whichever are at work. */
export async function startMortalOperator(
  options: OperatorOptions,
  life: ReturnType<typeof lifeOf>,
): Promise<{ stop(): Promise<void> }> {
  let operator = await startOperator({ ...options, via: (api) => mortal(api, life) })
  const replaced = life.end.then(async () => {
    await operator.stop()
    life.isReplaced = true
    operator = await startOperator(options)
  })
  return {
    async stop() {
      if (life.left <= 0) await replaced
      const last = operator
      await last.stop()
      if (life.left > 0) return
      // The Events that it told at its end may have been its death.
      await replaced
      if (operator !== last) await operator.stop()
    },
  }
}
