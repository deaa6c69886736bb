import { refOf } from '../../../api/index.ts'
import { Failure } from '../../../std/index.ts'
import { keyOfId, sayId } from '../../apply/index.ts'
import type { Health } from '../../health/index.ts'
import type { Entry } from '../objects/change-set.ts'
import type { Desired } from '../objects/place.ts'
import { sentenceAbout } from '../objects/sentence.ts'
import type { TopologicalOrder } from '../objects/topological-order.ts'
import { kindOfAny } from '../state/observe.ts'
import type { Writing } from './case.ts'

/** Keeps objects back whose dependencies are not there yet. Nobody stands and waits: they are tried in the next reconcile. */
export interface Gate {
  /** Why the object is not applied now. */
  obstacle(item: Desired): Promise<Entry | undefined>
  note(entries: readonly Entry[]): void
}

export interface Gated {
  order: TopologicalOrder
  set: readonly Desired[]
  /** Objects of the set that may not be applied. */
  refused: readonly Entry[]
  by: Writing
}

export function createGate({ order, set, refused, by }: Gated): Gate {
  const outcomes = new Map(refused.map((entry) => [keyOfId(entry.id), entry]))
  const items = new Map(order.needs.size > 0 ? set.map((item) => [keyOfId(item.id), item]) : [])
  const asked = new Map<string, Promise<Health>>()
  const blocked = new Set<string>()

  /** Many may depend on one; it is looked at once. */
  const healthOf = (item: Desired): Promise<Health> => {
    const key = keyOfId(item.id)
    const line = by.lineOf(key)
    if (line?.word === 'there' && line.health.status === 'Healthy') return Promise.resolve(line.health)
    const asking = asked.get(key) ?? ask(item, by)
    asked.set(key, asking)
    return asking
  }

  const obstacleIn = async (key: string): Promise<Pick<Entry, 'change' | 'why' | 'undone'> | undefined> => {
    const outcome = outcomes.get(key)
    const item = items.get(key)
    const id = item?.id ?? outcome?.id
    if (!id) return undefined
    const on = `depends on ${sayId(id)}, which`
    if (outcome?.change === 'failed' || order.faults.has(key))
      return { change: 'skipped', undone: true, why: `${on} could not be applied` }
    if (blocked.has(key) && outcome?.change === 'skipped') return { change: 'skipped', undone: true, why: `${on} was skipped` }
    if (outcome?.change === 'waiting') return { change: 'waiting', why: `${on} waits itself` }
    const { status, message } = item ? await healthOf(item) : { status: 'Missing', message: undefined }
    return status === 'Healthy'
      ? undefined
      : { change: 'waiting', why: `${on} is ${status}${message === undefined ? '' : `: ${message}`}` }
  }

  return {
    async obstacle({ id, source }): Promise<Entry | undefined> {
      const key = keyOfId(id)
      const fault = order.faults.get(key)
      if (fault !== undefined) {
        const failure = new Failure('invalid', fault, { reason: 'DependencyInvalid' })
        return { id, change: 'failed', why: fault, failure, source }
      }
      return firstIn(order.needs.get(key) ?? [], async (need) => {
        const obstacle = await obstacleIn(need)
        if (obstacle) blocked.add(key)
        return obstacle && { id, source, ...obstacle }
      })
    },
    note(entries) {
      if (order.needs.size > 0) for (const entry of entries) outcomes.set(keyOfId(entry.id), entry)
    },
  }
}

async function ask(item: Desired, by: Writing): Promise<Health> {
  try {
    const kind = await by.send(item, () => by.kube.resolve(item.object.apiVersion, item.id.kind))
    if (!kind) return { status: 'Missing', message: 'its kind is not served' }
    return by.healthOf(await by.send(item, () => by.kube.get(kindOfAny(kind), refOf(item.object), by.signal)))
  } catch (thrown) {
    return { status: 'Unknown', message: sentenceAbout(item.id, Failure.from(thrown)) }
  }
}

async function firstIn<T, R>(items: readonly T[], find: (item: T) => Promise<R | undefined>): Promise<R | undefined> {
  for (const item of items) {
    const found = await find(item)
    if (found !== undefined) return found
  }
  return undefined
}
