import { saidIn } from '../../../adapters/kube/index.ts'
import { refOf } from '../../../api/index.ts'
import { eachOf, Failure, pause, seconds } from '../../../std/index.ts'
import { byKey, keyOfId, sayId } from '../../apply/index.ts'
import { endsByGoing, type Health, healthOf } from '../../health/index.ts'
import type { Held } from '../inventory/inventory.ts'
import { type Entry, sentenceAbout } from '../objects/change-set.ts'
import { kindOfAny } from '../objects/context.ts'
import type { HookEnd } from '../objects/hook-runs.ts'
import type { Desired } from '../objects/place.ts'
import { kindKey, kindsDeclaredBy, type TopologicalOrder, topologicalOrder } from '../objects/topological-order.ts'
import type { ObjectStates } from '../state/object-state.ts'
import type { ApplySettings, ObjectWriter } from './case.ts'
import { createRetryAfter } from './retry-after.ts'
import { writeOne } from './write.ts'

/** More at once only makes the API server's queue longer: measured in docs/decisions/0095. */
const AT_ONCE = 16

export interface ApplyRequest extends ApplySettings {
  held: readonly Held[]
  /** The whole set, what needs no write included: dependencies are looked for in it. Without it, what is applied. */
  set?: readonly Desired[] | undefined
  /** Objects of the set that may not be applied. */
  refused?: readonly Entry[] | undefined
  /** By key, of all of them: in which wave an object is, where it is not wave 0. */
  waves?: ReadonlyMap<string, number> | undefined
  /** By key: hooks of this set that are over. */
  hookEnds?: ReadonlyMap<string, HookEnd> | undefined
  /** As they were seen before the first write: an apply that changed nothing is told by it. */
  states?: ObjectStates | undefined
  /** Called when an object is done, well or badly. */
  told?: ((entry: Entry) => void) | undefined
}

/**
 * Server-side apply, step by step: dependencies before dependents, kinds that others need first. One object's failure is its
 * own entry; it stops nothing but what depends on it.
 */
export async function apply(desired: readonly Desired[], request: ApplyRequest): Promise<Entry[]> {
  if (desired.length === 0) return []
  const { set = desired, refused = [], waves = new Map(), hookEnds = new Map(), signal } = request
  const writer = writerFor(desired, request)
  const order = topologicalOrder(set, { elsewhere: new Set(refused.map(({ id }) => keyOfId(id))), waves })
  const gate = createDependencyGate(order, { set, refused, hookEnds }, writer)
  const serving = createServing(desired, writer)
  const due = new Set(desired)

  const entries: Entry[] = []
  for (const step of order.steps) {
    signal?.throwIfAborted()
    const items = step.filter((item) => due.has(item))
    await serving.ready(items)
    const write = async (item: Desired) => {
      signal?.throwIfAborted()
      const entry = (await gate.obstacle(item)) ?? (await serving.retryUntilServed(item, () => writeOne(item, writer)))
      request.told?.(entry)
      return entry
    }
    const done = await eachOf(items, AT_ONCE, write)
    gate.note(done)
    for (const entry of done) entries.push(entry)
  }
  // An abort in the midst of it is no failure of the objects.
  signal?.throwIfAborted()
  return entries
}

function writerFor(desired: readonly Desired[], request: ApplyRequest): ObjectWriter {
  const due = new Set(desired.map(({ key }) => key))
  const known = byKey(request.held.filter(({ key }) => due.has(key)))
  const send = createRetryAfter(request.clock, request.signal)
  return {
    ...request,
    uidOf: (key) => known.get(key)?.uid,
    stateOf: (key) => request.states?.get(key),
    send: ({ id }, ask) => send(`${id.group}/${id.kind}/${id.namespace ?? ''}`, ask),
  }
}

type Obstacle = Pick<Entry, 'change' | 'why' | 'undone' | 'isStuck'>

interface GatedSet {
  set: readonly Desired[]
  refused: readonly Entry[]
  hookEnds: ReadonlyMap<string, HookEnd>
}

/** Keeps objects back whose dependencies are not there yet. Nothing waits here: they are tried in the next reconcile. */
function createDependencyGate(order: TopologicalOrder, { set, refused, hookEnds }: GatedSet, writer: ObjectWriter) {
  const outcomes = new Map(refused.map((entry) => [keyOfId(entry.id), entry]))
  const hasNeeds = order.needs.size + order.waveNeeds.size > 0
  const items = new Map(hasNeeds ? set.map((item) => [item.key, item]) : [])
  const asked = new Map<string, Promise<Health>>()
  const blocked = new Set<string>()

  /** Many may depend on one; it is looked at once. */
  const healthOfItem = (item: Desired): Promise<Health> => {
    const { key } = item
    const state = writer.stateOf(key)
    if (state?.presence === 'present' && state.health.status === 'Healthy') return Promise.resolve(state.health)
    const asking = asked.get(key) ?? askHealth(item, writer)
    asked.set(key, asking)
    return asking
  }

  const beginnings = new Map<string, Promise<Obstacle | undefined>>()
  /** When the first object of a wave asks, all that is before that wave had its turn. */
  const obstacleToWave = (needs: readonly string[] = []): Promise<Obstacle | undefined> =>
    firstIn(needs, (need) => {
      if (items.has(need) || outcomes.has(need)) return obstacleIn(need, 'comes after')
      const asking = beginnings.get(need) ?? obstacleToWave(order.waveNeeds.get(need))
      beginnings.set(need, asking)
      return asking
    })

  const obstacleIn = async (key: string, how: string): Promise<Obstacle | undefined> => {
    const outcome = outcomes.get(key)
    const item = items.get(key)
    const id = item?.id ?? outcome?.id
    if (!id) return undefined
    const on = `${how} ${sayId(id)}, which`
    if (outcome?.change === 'failed' || order.faults.has(key))
      return { change: 'skipped', undone: true, why: `${on} could not be applied` }
    const end = hookEnds.get(key)
    if (end !== undefined) return end === 'failed' ? { change: 'skipped', undone: true, why: `${on} failed` } : undefined
    if (blocked.has(key) && outcome?.change === 'skipped') return { change: 'skipped', undone: true, why: `${on} was skipped` }
    if (outcome?.change === 'waiting')
      return { change: 'waiting', why: `${on} waits itself`, ...(outcome.isStuck && { isStuck: true }) }
    const { status, message } = item ? await healthOfItem(item) : { status: 'Missing', message: undefined }
    if (status === 'Healthy') return undefined
    const why = `${on} is ${status}${message === undefined ? '' : `: ${message}`}`
    return { change: 'waiting', why, ...(status === 'Degraded' && { isStuck: true }) }
  }

  return {
    /** Why the object is not applied now. */
    async obstacle({ id, key, source }: Desired): Promise<Entry | undefined> {
      const fault = order.faults.get(key)
      if (fault !== undefined) {
        const failure = new Failure('invalid', fault, { reason: 'DependencyInvalid' })
        return { id, change: 'failed', why: fault, failure, source }
      }
      const obstacle =
        (await firstIn(order.needs.get(key) ?? [], (need) => obstacleIn(need, 'depends on'))) ??
        (await obstacleToWave(order.waveNeeds.get(key)))
      if (obstacle) blocked.add(key)
      return obstacle && { id, source, ...obstacle }
    },
    note(entries: readonly Entry[]) {
      if (hasNeeds) for (const entry of entries) outcomes.set(keyOfId(entry.id), entry)
    },
  }
}

async function askHealth(item: Desired, writer: ObjectWriter): Promise<Health> {
  try {
    const kind = await writer.send(item, () => writer.kube.resolve(item.object.apiVersion, item.id.kind))
    if (!kind) return { status: 'Missing', message: 'its kind is not served' }
    const object = await writer.send(item, () => writer.kube.get(kindOfAny(kind), refOf(item.object), writer.signal))
    // One that ends by going has done what was asked of it.
    if (!object && endsByGoing(item.object)) return { status: 'Healthy' }
    return writer.healthOf?.(object) ?? healthOf(object, writer.clock.now())
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
function createServing(desired: readonly Desired[], writer: ObjectWriter) {
  const declared = new Set(desired.flatMap(kindsDeclaredBy))
  const since = new Map<string, number>()
  const { clock, kube, signal } = writer
  const began = (item: Desired): number => {
    const key = kindKey(item.id)
    const start = since.get(key) ?? clock.now()
    since.set(key, start)
    return start
  }

  return {
    /** Returns when the kinds of these are served, or time is up. */
    async ready(items: readonly Desired[]) {
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

    /** Writes again what came too early. */
    async retryUntilServed(item: Desired, write: () => Promise<Entry>) {
      for (let wait = SHORTEST * 4; ; wait = Math.min(wait * 2, LONGEST)) {
        const entry = await write()
        const within = declared.has(kindKey(item.id)) ? waitLimitFor(entry) : undefined
        if (within === undefined || clock.now() >= began(item) + within || signal?.aborted) return entry
        await pause(clock, wait, signal)
      }
    },
  }
}

function waitLimitFor({ failure }: Entry): number | undefined {
  if (failure?.code === 'not-found') return SERVED_WITHIN
  return failure?.code === 'invalid' && /unknown field|not declared in schema/.test(saidIn(failure)) ? CHANGED_WITHIN : undefined
}
