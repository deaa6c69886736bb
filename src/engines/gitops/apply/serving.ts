import { saidIn } from '../../../adapters/kube/index.ts'
import { pause, seconds } from '../../../std/index.ts'
import type { Entry } from '../objects/change-set.ts'
import type { Desired } from '../objects/place.ts'
import { kindKey, kindsDeclaredBy } from '../objects/topological-order.ts'
import type { Writing } from './case.ts'

/** A CRD is served a moment after it was accepted. */
const SERVED_WITHIN = seconds(10)
/** A CRD that was changed goes on refusing the new fields for a moment. */
const CHANGED_WITHIN = seconds(2)
const SHORTEST = 25
const LONGEST = seconds(0.5)

/**
 * A CRD is accepted before its kind is served. Objects of kinds whose CRD was written in the same sync are retried for a while; the time
 * is counted for the kind, however many objects it has.
 */
export interface Serving {
  /** Returns when the kinds of these are served, or time is up. */
  ready(items: readonly Desired[]): Promise<void>
  /** Writes again what came too early. */
  retryUntilServed(item: Desired, write: () => Promise<Entry>): Promise<Entry>
}

export function createServing(desired: readonly Desired[], by: Writing): Serving {
  const declared = new Set(desired.flatMap(kindsDeclaredBy))
  const since = new Map<string, number>()
  const { clock, kube, signal } = by
  const began = (item: Desired): number => {
    const key = kindKey(item.id)
    const start = since.get(key) ?? clock.now()
    since.set(key, start)
    return start
  }

  return {
    async ready(items) {
      if (declared.size === 0) return
      const firsts = new Map(
        items.filter(({ id }) => declared.has(kindKey(id))).map((item) => [item.object.apiVersion + item.id.kind, item]),
      )
      for (const item of firsts.values()) {
        const deadline = began(item) + SERVED_WITHIN
        for (let wait = SHORTEST; clock.now() < deadline && !signal?.aborted; wait = Math.min(wait * 2, LONGEST)) {
          if (await kube.resolve(item.object.apiVersion, item.id.kind).catch(() => undefined)) break
          await pause(clock, wait, signal)
        }
      }
    },

    async retryUntilServed(item, write) {
      for (let wait = SHORTEST * 4; ; wait = Math.min(wait * 2, LONGEST)) {
        const entry = await write()
        const within = declared.has(kindKey(item.id)) ? patienceFor(entry) : undefined
        if (within === undefined || clock.now() >= began(item) + within || signal?.aborted) return entry
        await pause(clock, wait, signal)
      }
    },
  }
}

function patienceFor({ failure }: Entry): number | undefined {
  if (failure?.code === 'not-found') return SERVED_WITHIN
  return failure?.code === 'invalid' && /unknown field|not declared in schema/.test(saidIn(failure)) ? CHANGED_WITHIN : undefined
}
