import type { AnyObject } from '../../../api/index.ts'
import { type Clock, eachOf, minutes } from '../../../std/index.ts'
import { keyOfId, type ObjectId } from '../../apply/index.ts'
import type { Held } from '../inventory/inventory.ts'
import { inOrder, kindKey, kindsDeclaredBy } from '../objects/topological-order.ts'
import { isNamespace } from './guards.ts'
import type { LeavingTurn } from './look.ts'

/** One object that is to go, or that is in the way of others until it is gone. */
export interface Leaver extends LeavingTurn {
  readonly held: Held
  /** As it was seen, where it was looked at. */
  readonly object: AnyObject | undefined
  /** When its deletion was asked for, if it was; milliseconds. */
  readonly since?: number | undefined
}

/** How it went with one of them: gone, or still there, from now on or for longer. */
export type RemovalOutcome = 'gone' | 'present' | 'terminating'

interface Turns {
  clock: Clock
  /** Those that are to be deleted. */
  leavers: readonly Leaver[]
  /** Those that were deleted before, or cannot be deleted now. */
  others: readonly Leaver[]
  /** From when on nothing new is begun, milliseconds. */
  until: number
  remove(leaver: Leaver): Promise<RemovalOutcome>
  signal?: AbortSignal | undefined
}

const AT_ONCE = 6
/** A controller that goes with its resources is left so long to let go of them. */
const PATIENCE = minutes(2)

/**
 * Deletes in the reverse of the order in which is applied: first what depends on others, then by kind, and what others live
 * in only when they are gone. Answers what did not have its turn yet, each with what is in its way; nobody is waited for.
 */
export async function inTurns(turns: Turns): Promise<{ leaver: Leaver; behind: ObjectId[] }[]> {
  const { clock, until, signal } = turns
  const field = createField([...turns.others, ...turns.leavers], clock)
  let waiting = [...turns.leavers]
  for (let progress = true; progress && waiting.length > 0; ) {
    progress = false
    const left = new Set<Leaver>()
    for (const group of inOrder(waiting, ({ held }) => held.id.kind).toReversed()) {
      signal?.throwIfAborted()
      await eachOf(group, AT_ONCE, async (leaver) => {
        if (clock.now() >= until || field.before(leaver).length > 0) return void left.add(leaver)
        progress = true
        field.tell(leaver, await turns.remove(leaver))
      })
    }
    waiting = waiting.filter((leaver) => left.has(leaver))
  }
  if (clock.now() >= until || !isCircle(waiting, field))
    return waiting.map((leaver) => ({ leaver, behind: idsOf(field.before(leaver)) }))
  return inTurns({ ...turns, leavers: waiting.map(withoutWishes), others: field.all().filter(isNotIn(waiting)) })
}

const idsOf = (leavers: readonly Leaver[]): ObjectId[] => leavers.map(({ held }) => held.id)

const isNotIn = (list: readonly Leaver[]) => {
  const keys = new Set(list.map(({ held }) => held.key))
  return ({ held }: Leaver): boolean => !keys.has(held.key)
}

/** Each waits for another one that waits: nobody would ever go. */
function isCircle(waiting: readonly Leaver[], field: Field): boolean {
  const keys = new Set(waiting.map(({ held }) => held.key))
  const isAmong = ({ held }: Leaver) => keys.has(held.key)
  return waiting.length > 0 && waiting.every((leaver) => field.before(leaver).every(isAmong))
}

const withoutWishes = (leaver: Leaver): Leaver => ({ ...leaver, needs: [], wave: 0 })

type Field = ReturnType<typeof createField>

/** Of one object no more are looked for that are in its way: each may be in the way of all others, too. */
const MOST = 10

/** The objects that are still there. */
function createField(leavers: readonly Leaver[], clock: Clock) {
  const open = new Map(leavers.map((leaver) => [leaver.held.key, leaver]))
  const slow = new Set([...open].filter(([, { held, since }]) => since !== undefined && isCustom(held.id)).map(([key]) => key))
  const dependents = dependentsIn(open)
  const members = membersIn(leavers)
  const keysAfter = createWaves(leavers, open)

  /** A custom resource that its finalizer holds may need what runs, may and is configured around it. */
  function* needingUs(): Generator<string> {
    for (const key of slow) {
      if (clock.now() - (open.get(key)?.since ?? 0) < PATIENCE) yield key
      else slow.delete(key)
    }
  }
  function* inTheWay({ held: { id, key }, object, wave }: Leaver): Generator<string> {
    yield* dependents.get(key) ?? []
    if (!isCustom(id)) yield* needingUs()
    for (const home of homesMadeBy(id, object)) yield* members.get(home) ?? []
    yield* keysAfter(wave)
  }

  return {
    /** Those that must be gone before this one may be deleted. */
    before(leaver: Leaver): Leaver[] {
      const found = new Set<Leaver>()
      for (const key of inTheWay(leaver)) {
        const other = key === leaver.held.key ? undefined : open.get(key)
        if (other) found.add(other)
        if (found.size === MOST) break
      }
      return [...found]
    },
    tell(leaver: Leaver, outcome: RemovalOutcome): void {
      const { key, id } = leaver.held
      if (outcome === 'gone') {
        open.delete(key)
        for (const home of homesOf(id)) members.get(home)?.delete(key)
      }
      if (outcome !== 'terminating') return
      open.set(key, { ...leaver, since: clock.now() })
      if (isCustom(id)) slow.add(key)
    },
    all: () => [...open.values()],
  }
}

/** What goes with others when they go: all that is in a namespace, and all of a kind. */
const homesOf = (id: ObjectId): string[] => [...(id.namespace === undefined ? [] : [`in ${id.namespace}`]), `of ${kindKey(id)}`]

function homesMadeBy(id: ObjectId, object: AnyObject | undefined): string[] {
  if (isNamespace(id)) return [`in ${id.name}`]
  return object ? kindsDeclaredBy({ object }).map((kind) => `of ${kind}`) : []
}

function membersIn(leavers: readonly Leaver[]): Map<string, Set<string>> {
  const members = new Map<string, Set<string>>()
  for (const { held } of leavers)
    for (const home of homesOf(held.id)) members.set(home, (members.get(home) ?? new Set()).add(held.key))
  return members
}

interface LeavingWave {
  wave: number
  /** One of it that is still there stands for all of them. */
  firstIn(open: ReadonlyMap<string, Leaver>): string | undefined
}

/** Tells of each later wave one that is still there, the next wave first. Each object may have a wave of its own. */
function createWaves(leavers: readonly Leaver[], open: ReadonlyMap<string, Leaver>) {
  const waves = wavesIn(leavers)
  return function* keysAfter(wave: number): Generator<string> {
    // The last ones go first.
    while (waves.length > 0 && waves.at(-1)?.firstIn(open) === undefined) waves.pop()
    for (let at = firstAfter(wave, waves); at < waves.length; at++) {
      const key = waves[at]?.firstIn(open)
      if (key !== undefined) yield key
    }
  }
}

/** The place of the first of them that is later. */
function firstAfter(wave: number, waves: readonly LeavingWave[]): number {
  let [low, high] = [0, waves.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((waves[middle]?.wave ?? 0) <= wave) low = middle + 1
    else high = middle
  }
  return low
}

/** None where all are in one. */
function wavesIn(leavers: readonly Leaver[]): LeavingWave[] {
  const groups = Map.groupBy(leavers, ({ wave }) => wave)
  if (groups.size < 2) return []
  return [...groups]
    .sort(([a], [b]) => a - b)
    .map(([wave, group]) => {
      let at = 0
      return {
        wave,
        firstIn(open) {
          while (at < group.length && !open.has(group[at]?.held.key ?? '')) at++
          return group[at]?.held.key
        },
      }
    })
}

/** By the key of what is depended on: the keys of those that do. */
function dependentsIn(open: ReadonlyMap<string, Leaver>): Map<string, string[]> {
  const dependents = new Map<string, string[]>()
  for (const [key, { needs, held }] of open) {
    for (const id of needs) {
      // A reference without namespace may mean the own one, as when it was applied.
      const home = id.namespace ?? held.id.namespace
      for (const to of new Set([keyOfId(id), keyOfId({ ...id, ...(home && { namespace: home }) })])) {
        const known = dependents.get(to)
        if (known) known.push(key)
        else dependents.set(to, [key])
      }
    }
  }
  return dependents
}

/** Of a group that Kubernetes itself does not serve. */
const isCustom = ({ group }: ObjectId): boolean => group.includes('.') && !group.endsWith('.k8s.io')
